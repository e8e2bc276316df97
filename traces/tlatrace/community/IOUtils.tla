------------------------------- MODULE IOUtils -------------------------------
(* Files, processes and the environment.                                      *)
(* What TLC does here is Java, and is not done: names and parameters only, so *)
(* that modules that use them for their output can be read.                   *)
LOCAL INSTANCE TLC

LOCAL None(what) == Assert(FALSE, <<what, "of IOUtils has no value here">>)

IOSerialize(val, absoluteFilename, compress) == None("IOSerialize")
IODeserialize(absoluteFilename, compressed) == None("IODeserialize")
Serialize(value, dest, options) == None("Serialize")
Deserialize(src, options) == None("Deserialize")
IOExec(command) == None("IOExec")
IOEnvExec(env, command) == None("IOEnvExec")
IOExecTemplate(commandTemplate, parameters) == None("IOExecTemplate")
IOEnvExecTemplate(env, commandTemplate, parameters) ==
  None("IOEnvExecTemplate")
IOEnv == None("IOEnv")
atoi(str) == None("atoi")
zeroPadN(n, width) == None("zeroPadN")
==============================================================================
