-------------------------------- MODULE TLCExt -------------------------------
(* What TLC offers to see and steer its own run; of this, only what is a      *)
(* function of its arguments has a value here.                                *)
LOCAL INSTANCE TLC

LOCAL None(what) == Assert(FALSE, <<what, "of TLCExt has no value here">>)

AssertEq(a, b) == a = b
TLCNoOp(val) == val
TLCCache(expression, closure) == expression

AssertError(err, exp) == None("AssertError")
TLCGetOrDefault(key, defaultVal) == None("TLCGetOrDefault")
TLCGetAndSet(key, Op(_, _), val, defaultVal) == None("TLCGetAndSet")
Trace == None("Trace")
CounterExample == None("CounterExample")
ToTrace(CE) == None("ToTrace")
TLCModelValue(str) == None("TLCModelValue")
TLCDefer(expression) == None("TLCDefer")
PickSuccessor(exp) == None("PickSuccessor")
TLCFP(var) == None("TLCFP")
TLCEvalDefinition(definitionName) == None("TLCEvalDefinition")
==============================================================================
