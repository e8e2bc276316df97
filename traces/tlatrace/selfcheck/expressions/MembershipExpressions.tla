------------------------ MODULE MembershipExpressions ------------------------
(* Values of every kind, looked for in sets of every kind. *)
EXTENDS Integers, Sequences

Member001 == TRUE \in {1}
Member002 == TRUE \in {"a"}
Member003 == TRUE \in {<<1>>}
Member004 == TRUE \in 1..2
Member005 == TRUE \in {TRUE}
Member006 == TRUE \in {{1}}
Member007 == TRUE \in {[a |-> 1]}
Member008 == TRUE \in BOOLEAN
Member009 == TRUE \in Nat
Member010 == TRUE \in STRING
Member011 == TRUE \in SUBSET {1}
Member012 == TRUE \in Seq({1})
Member013 == TRUE \in [{1} -> {1}]
Member014 == TRUE \in [a : {1}]
Member015 == TRUE \in {1} \X {1}
Member016 == TRUE \in {}
Member017 == 1 \in {1}
Member018 == 1 \in {"a"}
Member019 == 1 \in {<<1>>}
Member020 == 1 \in 1..2
Member021 == 1 \in {TRUE}
Member022 == 1 \in {{1}}
Member023 == 1 \in {[a |-> 1]}
Member024 == 1 \in BOOLEAN
Member025 == 1 \in Nat
Member026 == 1 \in STRING
Member027 == 1 \in SUBSET {1}
Member028 == 1 \in Seq({1})
Member029 == 1 \in [{1} -> {1}]
Member030 == 1 \in [a : {1}]
Member031 == 1 \in {1} \X {1}
Member032 == 1 \in {}
Member033 == "a" \in {1}
Member034 == "a" \in {"a"}
Member035 == "a" \in {<<1>>}
Member036 == "a" \in 1..2
Member037 == "a" \in {TRUE}
Member038 == "a" \in {{1}}
Member039 == "a" \in {[a |-> 1]}
Member040 == "a" \in BOOLEAN
Member041 == "a" \in Nat
Member042 == "a" \in STRING
Member043 == "a" \in SUBSET {1}
Member044 == "a" \in Seq({1})
Member045 == "a" \in [{1} -> {1}]
Member046 == "a" \in [a : {1}]
Member047 == "a" \in {}
Member048 == {1} \in {1}
Member049 == {1} \in {"a"}
Member050 == {1} \in {<<1>>}
Member051 == {1} \in 1..2
Member052 == {1} \in {TRUE}
Member053 == {1} \in {{1}}
Member054 == {1} \in {[a |-> 1]}
Member055 == {1} \in BOOLEAN
Member056 == {1} \in Nat
Member057 == {1} \in STRING
Member058 == {1} \in SUBSET {1}
Member059 == {1} \in Seq({1})
Member060 == {1} \in [{1} -> {1}]
Member061 == {1} \in [a : {1}]
Member062 == {1} \in {1} \X {1}
Member063 == {1} \in {}
Member064 == {"a"} \in {1}
Member065 == {"a"} \in {"a"}
Member066 == {"a"} \in {<<1>>}
Member067 == {"a"} \in 1..2
Member068 == {"a"} \in {TRUE}
Member069 == {"a"} \in {{1}}
Member070 == {"a"} \in {[a |-> 1]}
Member071 == {"a"} \in BOOLEAN
Member072 == {"a"} \in Nat
Member073 == {"a"} \in STRING
Member074 == {"a"} \in SUBSET {1}
Member075 == {"a"} \in Seq({1})
Member076 == {"a"} \in [{1} -> {1}]
Member077 == {"a"} \in [a : {1}]
Member078 == {"a"} \in {1} \X {1}
Member079 == {"a"} \in {}
Member080 == 1..2 \in {1}
Member081 == 1..2 \in {"a"}
Member082 == 1..2 \in {<<1>>}
Member083 == 1..2 \in 1..2
Member084 == 1..2 \in {TRUE}
Member085 == 1..2 \in {{1}}
Member086 == 1..2 \in {[a |-> 1]}
Member087 == 1..2 \in BOOLEAN
Member088 == 1..2 \in Nat
Member089 == 1..2 \in STRING
Member090 == 1..2 \in SUBSET {1}
Member091 == 1..2 \in Seq({1})
Member092 == 1..2 \in [{1} -> {1}]
Member093 == 1..2 \in [a : {1}]
Member094 == 1..2 \in {1} \X {1}
Member095 == 1..2 \in {}
Member096 == <<1>> \in {1}
Member097 == <<1>> \in {"a"}
Member098 == <<1>> \in {<<1>>}
Member099 == <<1>> \in 1..2
Member100 == <<1>> \in {TRUE}
Member101 == <<1>> \in {{1}}
Member102 == <<1>> \in {[a |-> 1]}
Member103 == <<1>> \in BOOLEAN
Member104 == <<1>> \in Nat
Member105 == <<1>> \in STRING
Member106 == <<1>> \in SUBSET {1}
Member107 == <<1>> \in Seq({1})
Member108 == <<1>> \in [{1} -> {1}]
Member109 == <<1>> \in [a : {1}]
Member110 == <<1>> \in {1} \X {1}
Member111 == <<1>> \in {}
Member112 == <<"a">> \in {1}
Member113 == <<"a">> \in {"a"}
Member114 == <<"a">> \in {<<1>>}
Member115 == <<"a">> \in 1..2
Member116 == <<"a">> \in {TRUE}
Member117 == <<"a">> \in {{1}}
Member118 == <<"a">> \in {[a |-> 1]}
Member119 == <<"a">> \in BOOLEAN
Member120 == <<"a">> \in Nat
Member121 == <<"a">> \in STRING
Member122 == <<"a">> \in SUBSET {1}
Member123 == <<"a">> \in Seq({1})
Member124 == <<"a">> \in [{1} -> {1}]
Member125 == <<"a">> \in [a : {1}]
Member126 == <<"a">> \in {1} \X {1}
Member127 == <<"a">> \in {}
Member128 == <<>> \in {1}
Member129 == <<>> \in {"a"}
Member130 == <<>> \in {<<1>>}
Member131 == <<>> \in 1..2
Member132 == <<>> \in {TRUE}
Member133 == <<>> \in {{1}}
Member134 == <<>> \in {[a |-> 1]}
Member135 == <<>> \in BOOLEAN
Member136 == <<>> \in Nat
Member137 == <<>> \in STRING
Member138 == <<>> \in SUBSET {1}
Member139 == <<>> \in Seq({1})
Member140 == <<>> \in [{1} -> {1}]
Member141 == <<>> \in [a : {1}]
Member142 == <<>> \in {1} \X {1}
Member143 == <<>> \in {}
Member144 == [a |-> 1] \in {1}
Member145 == [a |-> 1] \in {"a"}
Member146 == [a |-> 1] \in {<<1>>}
Member147 == [a |-> 1] \in 1..2
Member148 == [a |-> 1] \in {TRUE}
Member149 == [a |-> 1] \in {{1}}
Member150 == [a |-> 1] \in {[a |-> 1]}
Member151 == [a |-> 1] \in BOOLEAN
Member152 == [a |-> 1] \in Nat
Member153 == [a |-> 1] \in STRING
Member154 == [a |-> 1] \in SUBSET {1}
Member155 == [a |-> 1] \in Seq({1})
Member156 == [a |-> 1] \in [{1} -> {1}]
Member157 == [a |-> 1] \in [a : {1}]
Member158 == [a |-> 1] \in {1} \X {1}
Member159 == [a |-> 1] \in {}
Member160 == [x \in {0} |-> 1] \in {1}
Member161 == [x \in {0} |-> 1] \in {"a"}
Member162 == [x \in {0} |-> 1] \in {<<1>>}
Member163 == [x \in {0} |-> 1] \in 1..2
Member164 == [x \in {0} |-> 1] \in {TRUE}
Member165 == [x \in {0} |-> 1] \in {{1}}
Member166 == [x \in {0} |-> 1] \in {[a |-> 1]}
Member167 == [x \in {0} |-> 1] \in BOOLEAN
Member168 == [x \in {0} |-> 1] \in Nat
Member169 == [x \in {0} |-> 1] \in STRING
Member170 == [x \in {0} |-> 1] \in SUBSET {1}
Member171 == [x \in {0} |-> 1] \in Seq({1})
Member172 == [x \in {0} |-> 1] \in [{1} -> {1}]
Member173 == [x \in {0} |-> 1] \in [a : {1}]
Member174 == [x \in {0} |-> 1] \in {1} \X {1}
Member175 == [x \in {0} |-> 1] \in {}
Member176 == {} \in {1}
Member177 == {} \in {"a"}
Member178 == {} \in {<<1>>}
Member179 == {} \in 1..2
Member180 == {} \in {TRUE}
Member181 == {} \in {{1}}
Member182 == {} \in {[a |-> 1]}
Member183 == {} \in BOOLEAN
Member184 == {} \in Nat
Member185 == {} \in STRING
Member186 == {} \in SUBSET {1}
Member187 == {} \in Seq({1})
Member188 == {} \in [{1} -> {1}]
Member189 == {} \in [a : {1}]
Member190 == {} \in {1} \X {1}
Member191 == {} \in {}
Member192 == {<<1>>} \in {1}
Member193 == {<<1>>} \in {"a"}
Member194 == {<<1>>} \in {<<1>>}
Member195 == {<<1>>} \in 1..2
Member196 == {<<1>>} \in {TRUE}
Member197 == {<<1>>} \in {{1}}
Member198 == {<<1>>} \in {[a |-> 1]}
Member199 == {<<1>>} \in BOOLEAN
Member200 == {<<1>>} \in Nat
Member201 == {<<1>>} \in STRING
Member202 == {<<1>>} \in SUBSET {1}
Member203 == {<<1>>} \in Seq({1})
Member204 == {<<1>>} \in [{1} -> {1}]
Member205 == {<<1>>} \in [a : {1}]
Member206 == {<<1>>} \in {1} \X {1}
Member207 == {<<1>>} \in {}
Member208 == SUBSET {1} \in {1}
Member209 == SUBSET {1} \in {"a"}
Member210 == SUBSET {1} \in {<<1>>}
Member211 == SUBSET {1} \in 1..2
Member212 == SUBSET {1} \in {TRUE}
Member213 == SUBSET {1} \in {{1}}
Member214 == SUBSET {1} \in {[a |-> 1]}
Member215 == SUBSET {1} \in BOOLEAN
Member216 == SUBSET {1} \in Nat
Member217 == SUBSET {1} \in STRING
Member218 == SUBSET {1} \in SUBSET {1}
Member219 == SUBSET {1} \in Seq({1})
Member220 == SUBSET {1} \in [{1} -> {1}]
Member221 == SUBSET {1} \in [a : {1}]
Member222 == SUBSET {1} \in {1} \X {1}
Member223 == SUBSET {1} \in {}
Member224 == [{1} -> {1}] \in {1}
Member225 == [{1} -> {1}] \in {"a"}
Member226 == [{1} -> {1}] \in {<<1>>}
Member227 == [{1} -> {1}] \in 1..2
Member228 == [{1} -> {1}] \in {TRUE}
Member229 == [{1} -> {1}] \in {{1}}
Member230 == [{1} -> {1}] \in {[a |-> 1]}
Member231 == [{1} -> {1}] \in BOOLEAN
Member232 == [{1} -> {1}] \in Nat
Member233 == [{1} -> {1}] \in STRING
Member234 == [{1} -> {1}] \in SUBSET {1}
Member235 == [{1} -> {1}] \in Seq({1})
Member236 == [{1} -> {1}] \in [{1} -> {1}]
Member237 == [{1} -> {1}] \in [a : {1}]
Member238 == [{1} -> {1}] \in {1} \X {1}
Member239 == [{1} -> {1}] \in {}
==============================================================================
