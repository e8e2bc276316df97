------------------------- MODULE EqualityExpressions -------------------------
(* Values of every kind, compared with each other. *)
EXTENDS Integers, Sequences

Equal001 == TRUE = TRUE
Equal002 == TRUE = 1
Equal003 == TRUE = "a"
Equal004 == TRUE = {1}
Equal005 == TRUE = {"a"}
Equal006 == TRUE = 1..2
Equal007 == TRUE = <<1>>
Equal008 == TRUE = <<"a">>
Equal009 == TRUE = <<>>
Equal010 == TRUE = [a |-> 1]
Equal011 == TRUE = [x \in {0} |-> 1]
Equal012 == TRUE = {}
Equal013 == TRUE = {<<1>>}
Equal014 == TRUE = SUBSET {1}
Equal015 == TRUE = [{1} -> {1}]
Equal016 == 1 = TRUE
Equal017 == 1 = 1
Equal018 == 1 = "a"
Equal019 == 1 = {1}
Equal020 == 1 = {"a"}
Equal021 == 1 = 1..2
Equal022 == 1 = <<1>>
Equal023 == 1 = <<"a">>
Equal024 == 1 = <<>>
Equal025 == 1 = [a |-> 1]
Equal026 == 1 = [x \in {0} |-> 1]
Equal027 == 1 = {}
Equal028 == 1 = {<<1>>}
Equal029 == 1 = SUBSET {1}
Equal030 == 1 = [{1} -> {1}]
Equal031 == "a" = TRUE
Equal032 == "a" = 1
Equal033 == "a" = "a"
Equal034 == "a" = {1}
Equal035 == "a" = {"a"}
Equal036 == "a" = 1..2
Equal037 == "a" = <<1>>
Equal038 == "a" = <<"a">>
Equal039 == "a" = <<>>
Equal040 == "a" = [a |-> 1]
Equal041 == "a" = [x \in {0} |-> 1]
Equal042 == "a" = {}
Equal043 == "a" = {<<1>>}
Equal044 == "a" = SUBSET {1}
Equal045 == "a" = [{1} -> {1}]
Equal046 == {1} = TRUE
Equal047 == {1} = 1
Equal048 == {1} = "a"
Equal049 == {1} = {1}
Equal050 == {1} = {"a"}
Equal051 == {1} = 1..2
Equal052 == {1} = <<1>>
Equal053 == {1} = <<"a">>
Equal054 == {1} = <<>>
Equal055 == {1} = [a |-> 1]
Equal056 == {1} = [x \in {0} |-> 1]
Equal057 == {1} = {}
Equal058 == {1} = {<<1>>}
Equal059 == {1} = SUBSET {1}
Equal060 == {1} = [{1} -> {1}]
Equal061 == {"a"} = TRUE
Equal062 == {"a"} = 1
Equal063 == {"a"} = "a"
Equal064 == {"a"} = {1}
Equal065 == {"a"} = {"a"}
Equal066 == {"a"} = 1..2
Equal067 == {"a"} = <<1>>
Equal068 == {"a"} = <<"a">>
Equal069 == {"a"} = <<>>
Equal070 == {"a"} = [a |-> 1]
Equal071 == {"a"} = [x \in {0} |-> 1]
Equal072 == {"a"} = {}
Equal073 == {"a"} = {<<1>>}
Equal074 == {"a"} = SUBSET {1}
Equal075 == {"a"} = [{1} -> {1}]
Equal076 == 1..2 = TRUE
Equal077 == 1..2 = 1
Equal078 == 1..2 = "a"
Equal079 == 1..2 = {1}
Equal080 == 1..2 = {"a"}
Equal081 == 1..2 = 1..2
Equal082 == 1..2 = <<1>>
Equal083 == 1..2 = <<"a">>
Equal084 == 1..2 = <<>>
Equal085 == 1..2 = [a |-> 1]
Equal086 == 1..2 = [x \in {0} |-> 1]
Equal087 == 1..2 = {}
Equal088 == 1..2 = {<<1>>}
Equal089 == 1..2 = SUBSET {1}
Equal090 == 1..2 = [{1} -> {1}]
Equal091 == <<1>> = TRUE
Equal092 == <<1>> = 1
Equal093 == <<1>> = "a"
Equal094 == <<1>> = {1}
Equal095 == <<1>> = {"a"}
Equal096 == <<1>> = 1..2
Equal097 == <<1>> = <<1>>
Equal098 == <<1>> = <<"a">>
Equal099 == <<1>> = <<>>
Equal100 == <<1>> = [a |-> 1]
Equal101 == <<1>> = [x \in {0} |-> 1]
Equal102 == <<1>> = {}
Equal103 == <<1>> = {<<1>>}
Equal104 == <<1>> = SUBSET {1}
Equal105 == <<1>> = [{1} -> {1}]
Equal106 == <<"a">> = TRUE
Equal107 == <<"a">> = 1
Equal108 == <<"a">> = {1}
Equal109 == <<"a">> = {"a"}
Equal110 == <<"a">> = 1..2
Equal111 == <<"a">> = <<1>>
Equal112 == <<"a">> = <<"a">>
Equal113 == <<"a">> = <<>>
Equal114 == <<"a">> = [a |-> 1]
Equal115 == <<"a">> = [x \in {0} |-> 1]
Equal116 == <<"a">> = {}
Equal117 == <<"a">> = {<<1>>}
Equal118 == <<"a">> = SUBSET {1}
Equal119 == <<"a">> = [{1} -> {1}]
Equal120 == <<>> = TRUE
Equal121 == <<>> = 1
Equal122 == <<>> = {1}
Equal123 == <<>> = {"a"}
Equal124 == <<>> = 1..2
Equal125 == <<>> = <<1>>
Equal126 == <<>> = <<"a">>
Equal127 == <<>> = <<>>
Equal128 == <<>> = [a |-> 1]
Equal129 == <<>> = [x \in {0} |-> 1]
Equal130 == <<>> = {}
Equal131 == <<>> = {<<1>>}
Equal132 == <<>> = SUBSET {1}
Equal133 == <<>> = [{1} -> {1}]
Equal134 == [a |-> 1] = TRUE
Equal135 == [a |-> 1] = 1
Equal136 == [a |-> 1] = "a"
Equal137 == [a |-> 1] = {1}
Equal138 == [a |-> 1] = {"a"}
Equal139 == [a |-> 1] = 1..2
Equal140 == [a |-> 1] = <<1>>
Equal141 == [a |-> 1] = <<"a">>
Equal142 == [a |-> 1] = <<>>
Equal143 == [a |-> 1] = [a |-> 1]
Equal144 == [a |-> 1] = [x \in {0} |-> 1]
Equal145 == [a |-> 1] = {}
Equal146 == [a |-> 1] = {<<1>>}
Equal147 == [a |-> 1] = SUBSET {1}
Equal148 == [a |-> 1] = [{1} -> {1}]
Equal149 == [x \in {0} |-> 1] = TRUE
Equal150 == [x \in {0} |-> 1] = 1
Equal151 == [x \in {0} |-> 1] = "a"
Equal152 == [x \in {0} |-> 1] = {1}
Equal153 == [x \in {0} |-> 1] = {"a"}
Equal154 == [x \in {0} |-> 1] = 1..2
Equal155 == [x \in {0} |-> 1] = <<1>>
Equal156 == [x \in {0} |-> 1] = <<"a">>
Equal157 == [x \in {0} |-> 1] = <<>>
Equal158 == [x \in {0} |-> 1] = [a |-> 1]
Equal159 == [x \in {0} |-> 1] = [x \in {0} |-> 1]
Equal160 == [x \in {0} |-> 1] = {}
Equal161 == [x \in {0} |-> 1] = {<<1>>}
Equal162 == [x \in {0} |-> 1] = SUBSET {1}
Equal163 == [x \in {0} |-> 1] = [{1} -> {1}]
Equal164 == {} = TRUE
Equal165 == {} = 1
Equal166 == {} = "a"
Equal167 == {} = {1}
Equal168 == {} = {"a"}
Equal169 == {} = 1..2
Equal170 == {} = <<1>>
Equal171 == {} = <<"a">>
Equal172 == {} = <<>>
Equal173 == {} = [a |-> 1]
Equal174 == {} = [x \in {0} |-> 1]
Equal175 == {} = {}
Equal176 == {} = {<<1>>}
Equal177 == {} = SUBSET {1}
Equal178 == {} = [{1} -> {1}]
Equal179 == {<<1>>} = TRUE
Equal180 == {<<1>>} = 1
Equal181 == {<<1>>} = "a"
Equal182 == {<<1>>} = {1}
Equal183 == {<<1>>} = {"a"}
Equal184 == {<<1>>} = 1..2
Equal185 == {<<1>>} = <<1>>
Equal186 == {<<1>>} = <<"a">>
Equal187 == {<<1>>} = <<>>
Equal188 == {<<1>>} = [a |-> 1]
Equal189 == {<<1>>} = [x \in {0} |-> 1]
Equal190 == {<<1>>} = {}
Equal191 == {<<1>>} = {<<1>>}
Equal192 == {<<1>>} = SUBSET {1}
Equal193 == {<<1>>} = [{1} -> {1}]
Equal194 == SUBSET {1} = TRUE
Equal195 == SUBSET {1} = 1
Equal196 == SUBSET {1} = "a"
Equal197 == SUBSET {1} = {1}
Equal198 == SUBSET {1} = {"a"}
Equal199 == SUBSET {1} = 1..2
Equal200 == SUBSET {1} = <<1>>
Equal201 == SUBSET {1} = <<"a">>
Equal202 == SUBSET {1} = <<>>
Equal203 == SUBSET {1} = [a |-> 1]
Equal204 == SUBSET {1} = [x \in {0} |-> 1]
Equal205 == SUBSET {1} = {}
Equal206 == SUBSET {1} = {<<1>>}
Equal207 == SUBSET {1} = SUBSET {1}
Equal208 == SUBSET {1} = [{1} -> {1}]
Equal209 == [{1} -> {1}] = TRUE
Equal210 == [{1} -> {1}] = 1
Equal211 == [{1} -> {1}] = "a"
Equal212 == [{1} -> {1}] = {1}
Equal213 == [{1} -> {1}] = {"a"}
Equal214 == [{1} -> {1}] = 1..2
Equal215 == [{1} -> {1}] = <<1>>
Equal216 == [{1} -> {1}] = <<"a">>
Equal217 == [{1} -> {1}] = <<>>
Equal218 == [{1} -> {1}] = [a |-> 1]
Equal219 == [{1} -> {1}] = [x \in {0} |-> 1]
Equal220 == [{1} -> {1}] = {}
Equal221 == [{1} -> {1}] = {<<1>>}
Equal222 == [{1} -> {1}] = SUBSET {1}
Equal223 == [{1} -> {1}] = [{1} -> {1}]
==============================================================================
