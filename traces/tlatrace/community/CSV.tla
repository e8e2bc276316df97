--------------------------------- MODULE CSV ---------------------------------
(* Files of comma-separated values.                                           *)
(* What TLC does here is Java, and is not done: names and parameters only, so *)
(* that modules that use them for their output can be read.                   *)
LOCAL INSTANCE TLC

LOCAL None(what) == Assert(FALSE, <<what, "of CSV has no value here">>)

CSVWrite(template, val, file) == None("CSVWrite")
CSVWriteRecord(record, delim, headers, file) == None("CSVWriteRecord")
CSVRead(columns, delimiter, file) == None("CSVRead")
CSVRecords(file) == None("CSVRecords")
==============================================================================
