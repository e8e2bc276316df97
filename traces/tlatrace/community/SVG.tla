--------------------------------- MODULE SVG ---------------------------------
(* Pictures.                                                                  *)
(* What TLC does here is Java, and is not done: names and parameters only, so *)
(* that modules that use them for their output can be read.                   *)
LOCAL INSTANCE TLC

LOCAL None(what) == Assert(FALSE, <<what, "of SVG has no value here">>)

SVGElem(_name, _attrs, _children, _innerText) == None("SVGElem")
Line(x1, y1, x2, y2, attrs) == None("Line")
Circle(cx, cy, r, attrs) == None("Circle")
Rect(x, y, w, h, attrs) == None("Rect")
Text(x, y, text, attrs) == None("Text")
Image(x, y, width, height, href, attrs) == None("Image")
Group(children, attrs) == None("Group")
Svg(children, attrs) == None("Svg")
SVGDoc(children, vbX, vbY, vbW, vbH, attrs) == None("SVGDoc")
SVGElemToString(elem) == None("SVGElemToString")
NodeOfRingNetwork(cx, cy, r, n, m) == None("NodeOfRingNetwork")
NodesOfDirectedMultiGraph(nodes, edges, options) ==
  None("NodesOfDirectedMultiGraph")
PointOnLine(from, to, segment) == None("PointOnLine")
SVGSerialize(svg, frameNamePrefix, frameNumber) == None("SVGSerialize")
==============================================================================
