-------------------------------- MODULE Json ---------------------------------
(* Values as JSON, and files of it.                                           *)
(* What TLC does here is Java, and is not done: names and parameters only, so *)
(* that modules that use them for their output can be read.                   *)
LOCAL INSTANCE TLC

LOCAL None(what) == Assert(FALSE, <<what, "of Json has no value here">>)

ToJson(value) == None("ToJson")
ToJsonArray(value) == None("ToJsonArray")
ToJsonObject(value) == None("ToJsonObject")
JsonSerialize(absoluteFilename, value) == None("JsonSerialize")
JsonDeserialize(absoluteFilename) == None("JsonDeserialize")
ndJsonSerialize(absoluteFilename, value) == None("ndJsonSerialize")
ndJsonDeserialize(absoluteFilename) == None("ndJsonDeserialize")
==============================================================================
