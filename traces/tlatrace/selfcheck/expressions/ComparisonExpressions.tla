------------------------ MODULE ComparisonExpressions ------------------------
(* Values of every kind, compared with each other and looked for in sets of every kind. *)
EXTENDS Integers, Sequences

Compare01 == TRUE = TRUE
Compare02 == TRUE = 1
Compare03 == TRUE = "a"
Compare04 == TRUE = {1}
Compare05 == TRUE = {"a"}
Compare06 == TRUE = 1..2
Compare07 == TRUE = <<1>>
Compare08 == TRUE = <<"a">>
Compare09 == TRUE = <<>>
Compare10 == TRUE = [a |-> 1]
Compare11 == TRUE = [x \in {0} |-> 1]
Compare12 == TRUE = {}
Compare13 == TRUE = {<<1>>}
Compare14 == TRUE = SUBSET {1}
Compare15 == TRUE = [{1} -> {1}]
Compare16 == 1 = TRUE
Compare17 == 1 = 1
Compare18 == 1 = "a"
Compare19 == 1 = {1}
Compare20 == 1 = {"a"}
Compare21 == 1 = 1..2
Compare22 == 1 = <<1>>
Compare23 == 1 = <<"a">>
Compare24 == 1 = <<>>
Compare25 == 1 = [a |-> 1]
Compare26 == 1 = [x \in {0} |-> 1]
Compare27 == 1 = {}
Compare28 == 1 = {<<1>>}
Compare29 == 1 = SUBSET {1}
Compare30 == 1 = [{1} -> {1}]
Compare31 == "a" = TRUE
Compare32 == "a" = 1
Compare33 == "a" = "a"
Compare34 == "a" = {1}
Compare35 == "a" = {"a"}
Compare36 == "a" = 1..2
Compare37 == "a" = <<1>>
Compare38 == "a" = <<"a">>
Compare39 == "a" = <<>>
Compare40 == "a" = [a |-> 1]
Compare41 == "a" = [x \in {0} |-> 1]
Compare42 == "a" = {}
Compare43 == "a" = {<<1>>}
Compare44 == "a" = SUBSET {1}
Compare45 == "a" = [{1} -> {1}]
Compare46 == {1} = TRUE
Compare47 == {1} = 1
Compare48 == {1} = "a"
Compare49 == {1} = {1}
Compare50 == {1} = {"a"}
Compare51 == {1} = 1..2
Compare52 == {1} = <<1>>
Compare53 == {1} = <<"a">>
Compare54 == {1} = <<>>
Compare55 == {1} = [a |-> 1]
Compare56 == {1} = [x \in {0} |-> 1]
Compare57 == {1} = {}
Compare58 == {1} = {<<1>>}
Compare59 == {1} = SUBSET {1}
Compare60 == {1} = [{1} -> {1}]
Compare61 == {"a"} = TRUE
Compare62 == {"a"} = 1
Compare63 == {"a"} = "a"
Compare64 == {"a"} = {1}
Compare65 == {"a"} = {"a"}
Compare66 == {"a"} = 1..2
Compare67 == {"a"} = <<1>>
Compare68 == {"a"} = <<"a">>
Compare69 == {"a"} = <<>>
Compare70 == {"a"} = [a |-> 1]
Compare71 == {"a"} = [x \in {0} |-> 1]
Compare72 == {"a"} = {}
Compare73 == {"a"} = {<<1>>}
Compare74 == {"a"} = SUBSET {1}
Compare75 == {"a"} = [{1} -> {1}]
Compare76 == 1..2 = TRUE
Compare77 == 1..2 = 1
Compare78 == 1..2 = "a"
Compare79 == 1..2 = {1}
Compare80 == 1..2 = {"a"}
Compare81 == 1..2 = 1..2
Compare82 == 1..2 = <<1>>
Compare83 == 1..2 = <<"a">>
Compare84 == 1..2 = <<>>
Compare85 == 1..2 = [a |-> 1]
Compare86 == 1..2 = [x \in {0} |-> 1]
Compare87 == 1..2 = {}
Compare88 == 1..2 = {<<1>>}
Compare89 == 1..2 = SUBSET {1}
Compare90 == 1..2 = [{1} -> {1}]
Compare91 == <<1>> = TRUE
Compare92 == <<1>> = 1
Compare93 == <<1>> = "a"
Compare94 == <<1>> = {1}
Compare95 == <<1>> = {"a"}
Compare96 == <<1>> = 1..2
Compare97 == <<1>> = <<1>>
Compare98 == <<1>> = <<"a">>
Compare99 == <<1>> = <<>>
Compare100 == <<1>> = [a |-> 1]
Compare101 == <<1>> = [x \in {0} |-> 1]
Compare102 == <<1>> = {}
Compare103 == <<1>> = {<<1>>}
Compare104 == <<1>> = SUBSET {1}
Compare105 == <<1>> = [{1} -> {1}]
Compare106 == <<"a">> = TRUE
Compare107 == <<"a">> = 1
Compare108 == <<"a">> = {1}
Compare109 == <<"a">> = {"a"}
Compare110 == <<"a">> = 1..2
Compare111 == <<"a">> = <<1>>
Compare112 == <<"a">> = <<"a">>
Compare113 == <<"a">> = <<>>
Compare114 == <<"a">> = [a |-> 1]
Compare115 == <<"a">> = [x \in {0} |-> 1]
Compare116 == <<"a">> = {}
Compare117 == <<"a">> = {<<1>>}
Compare118 == <<"a">> = SUBSET {1}
Compare119 == <<"a">> = [{1} -> {1}]
Compare120 == <<>> = TRUE
Compare121 == <<>> = 1
Compare122 == <<>> = {1}
Compare123 == <<>> = {"a"}
Compare124 == <<>> = 1..2
Compare125 == <<>> = <<1>>
Compare126 == <<>> = <<"a">>
Compare127 == <<>> = <<>>
Compare128 == <<>> = [a |-> 1]
Compare129 == <<>> = [x \in {0} |-> 1]
Compare130 == <<>> = {}
Compare131 == <<>> = {<<1>>}
Compare132 == <<>> = SUBSET {1}
Compare133 == <<>> = [{1} -> {1}]
Compare134 == [a |-> 1] = TRUE
Compare135 == [a |-> 1] = 1
Compare136 == [a |-> 1] = "a"
Compare137 == [a |-> 1] = {1}
Compare138 == [a |-> 1] = {"a"}
Compare139 == [a |-> 1] = 1..2
Compare140 == [a |-> 1] = <<1>>
Compare141 == [a |-> 1] = <<"a">>
Compare142 == [a |-> 1] = <<>>
Compare143 == [a |-> 1] = [a |-> 1]
Compare144 == [a |-> 1] = [x \in {0} |-> 1]
Compare145 == [a |-> 1] = {}
Compare146 == [a |-> 1] = {<<1>>}
Compare147 == [a |-> 1] = SUBSET {1}
Compare148 == [a |-> 1] = [{1} -> {1}]
Compare149 == [x \in {0} |-> 1] = TRUE
Compare150 == [x \in {0} |-> 1] = 1
Compare151 == [x \in {0} |-> 1] = "a"
Compare152 == [x \in {0} |-> 1] = {1}
Compare153 == [x \in {0} |-> 1] = {"a"}
Compare154 == [x \in {0} |-> 1] = 1..2
Compare155 == [x \in {0} |-> 1] = <<1>>
Compare156 == [x \in {0} |-> 1] = <<"a">>
Compare157 == [x \in {0} |-> 1] = <<>>
Compare158 == [x \in {0} |-> 1] = [a |-> 1]
Compare159 == [x \in {0} |-> 1] = [x \in {0} |-> 1]
Compare160 == [x \in {0} |-> 1] = {}
Compare161 == [x \in {0} |-> 1] = {<<1>>}
Compare162 == [x \in {0} |-> 1] = SUBSET {1}
Compare163 == [x \in {0} |-> 1] = [{1} -> {1}]
Compare164 == {} = TRUE
Compare165 == {} = 1
Compare166 == {} = "a"
Compare167 == {} = {1}
Compare168 == {} = {"a"}
Compare169 == {} = 1..2
Compare170 == {} = <<1>>
Compare171 == {} = <<"a">>
Compare172 == {} = <<>>
Compare173 == {} = [a |-> 1]
Compare174 == {} = [x \in {0} |-> 1]
Compare175 == {} = {}
Compare176 == {} = {<<1>>}
Compare177 == {} = SUBSET {1}
Compare178 == {} = [{1} -> {1}]
Compare179 == {<<1>>} = TRUE
Compare180 == {<<1>>} = 1
Compare181 == {<<1>>} = "a"
Compare182 == {<<1>>} = {1}
Compare183 == {<<1>>} = {"a"}
Compare184 == {<<1>>} = 1..2
Compare185 == {<<1>>} = <<1>>
Compare186 == {<<1>>} = <<"a">>
Compare187 == {<<1>>} = <<>>
Compare188 == {<<1>>} = [a |-> 1]
Compare189 == {<<1>>} = [x \in {0} |-> 1]
Compare190 == {<<1>>} = {}
Compare191 == {<<1>>} = {<<1>>}
Compare192 == {<<1>>} = SUBSET {1}
Compare193 == {<<1>>} = [{1} -> {1}]
Compare194 == SUBSET {1} = TRUE
Compare195 == SUBSET {1} = 1
Compare196 == SUBSET {1} = "a"
Compare197 == SUBSET {1} = {1}
Compare198 == SUBSET {1} = {"a"}
Compare199 == SUBSET {1} = 1..2
Compare200 == SUBSET {1} = <<1>>
Compare201 == SUBSET {1} = <<"a">>
Compare202 == SUBSET {1} = <<>>
Compare203 == SUBSET {1} = [a |-> 1]
Compare204 == SUBSET {1} = [x \in {0} |-> 1]
Compare205 == SUBSET {1} = {}
Compare206 == SUBSET {1} = {<<1>>}
Compare207 == SUBSET {1} = SUBSET {1}
Compare208 == SUBSET {1} = [{1} -> {1}]
Compare209 == [{1} -> {1}] = TRUE
Compare210 == [{1} -> {1}] = 1
Compare211 == [{1} -> {1}] = "a"
Compare212 == [{1} -> {1}] = {1}
Compare213 == [{1} -> {1}] = {"a"}
Compare214 == [{1} -> {1}] = 1..2
Compare215 == [{1} -> {1}] = <<1>>
Compare216 == [{1} -> {1}] = <<"a">>
Compare217 == [{1} -> {1}] = <<>>
Compare218 == [{1} -> {1}] = [a |-> 1]
Compare219 == [{1} -> {1}] = [x \in {0} |-> 1]
Compare220 == [{1} -> {1}] = {}
Compare221 == [{1} -> {1}] = {<<1>>}
Compare222 == [{1} -> {1}] = SUBSET {1}
Compare223 == [{1} -> {1}] = [{1} -> {1}]
Compare224 == TRUE \in {1}
Compare225 == TRUE \in {"a"}
Compare226 == TRUE \in {<<1>>}
Compare227 == TRUE \in 1..2
Compare228 == TRUE \in {TRUE}
Compare229 == TRUE \in {{1}}
Compare230 == TRUE \in {[a |-> 1]}
Compare231 == TRUE \in BOOLEAN
Compare232 == TRUE \in Nat
Compare233 == TRUE \in STRING
Compare234 == TRUE \in SUBSET {1}
Compare235 == TRUE \in Seq({1})
Compare236 == TRUE \in [{1} -> {1}]
Compare237 == TRUE \in [a : {1}]
Compare238 == TRUE \in {1} \X {1}
Compare239 == TRUE \in {}
Compare240 == 1 \in {1}
Compare241 == 1 \in {"a"}
Compare242 == 1 \in {<<1>>}
Compare243 == 1 \in 1..2
Compare244 == 1 \in {TRUE}
Compare245 == 1 \in {{1}}
Compare246 == 1 \in {[a |-> 1]}
Compare247 == 1 \in BOOLEAN
Compare248 == 1 \in Nat
Compare249 == 1 \in STRING
Compare250 == 1 \in SUBSET {1}
Compare251 == 1 \in Seq({1})
Compare252 == 1 \in [{1} -> {1}]
Compare253 == 1 \in [a : {1}]
Compare254 == 1 \in {1} \X {1}
Compare255 == 1 \in {}
Compare256 == "a" \in {1}
Compare257 == "a" \in {"a"}
Compare258 == "a" \in {<<1>>}
Compare259 == "a" \in 1..2
Compare260 == "a" \in {TRUE}
Compare261 == "a" \in {{1}}
Compare262 == "a" \in {[a |-> 1]}
Compare263 == "a" \in BOOLEAN
Compare264 == "a" \in Nat
Compare265 == "a" \in STRING
Compare266 == "a" \in SUBSET {1}
Compare267 == "a" \in Seq({1})
Compare268 == "a" \in [{1} -> {1}]
Compare269 == "a" \in [a : {1}]
Compare270 == "a" \in {}
Compare271 == {1} \in {1}
Compare272 == {1} \in {"a"}
Compare273 == {1} \in {<<1>>}
Compare274 == {1} \in 1..2
Compare275 == {1} \in {TRUE}
Compare276 == {1} \in {{1}}
Compare277 == {1} \in {[a |-> 1]}
Compare278 == {1} \in BOOLEAN
Compare279 == {1} \in Nat
Compare280 == {1} \in STRING
Compare281 == {1} \in SUBSET {1}
Compare282 == {1} \in Seq({1})
Compare283 == {1} \in [{1} -> {1}]
Compare284 == {1} \in [a : {1}]
Compare285 == {1} \in {1} \X {1}
Compare286 == {1} \in {}
Compare287 == {"a"} \in {1}
Compare288 == {"a"} \in {"a"}
Compare289 == {"a"} \in {<<1>>}
Compare290 == {"a"} \in 1..2
Compare291 == {"a"} \in {TRUE}
Compare292 == {"a"} \in {{1}}
Compare293 == {"a"} \in {[a |-> 1]}
Compare294 == {"a"} \in BOOLEAN
Compare295 == {"a"} \in Nat
Compare296 == {"a"} \in STRING
Compare297 == {"a"} \in SUBSET {1}
Compare298 == {"a"} \in Seq({1})
Compare299 == {"a"} \in [{1} -> {1}]
Compare300 == {"a"} \in [a : {1}]
Compare301 == {"a"} \in {1} \X {1}
Compare302 == {"a"} \in {}
Compare303 == 1..2 \in {1}
Compare304 == 1..2 \in {"a"}
Compare305 == 1..2 \in {<<1>>}
Compare306 == 1..2 \in 1..2
Compare307 == 1..2 \in {TRUE}
Compare308 == 1..2 \in {{1}}
Compare309 == 1..2 \in {[a |-> 1]}
Compare310 == 1..2 \in BOOLEAN
Compare311 == 1..2 \in Nat
Compare312 == 1..2 \in STRING
Compare313 == 1..2 \in SUBSET {1}
Compare314 == 1..2 \in Seq({1})
Compare315 == 1..2 \in [{1} -> {1}]
Compare316 == 1..2 \in [a : {1}]
Compare317 == 1..2 \in {1} \X {1}
Compare318 == 1..2 \in {}
Compare319 == <<1>> \in {1}
Compare320 == <<1>> \in {"a"}
Compare321 == <<1>> \in {<<1>>}
Compare322 == <<1>> \in 1..2
Compare323 == <<1>> \in {TRUE}
Compare324 == <<1>> \in {{1}}
Compare325 == <<1>> \in {[a |-> 1]}
Compare326 == <<1>> \in BOOLEAN
Compare327 == <<1>> \in Nat
Compare328 == <<1>> \in STRING
Compare329 == <<1>> \in SUBSET {1}
Compare330 == <<1>> \in Seq({1})
Compare331 == <<1>> \in [{1} -> {1}]
Compare332 == <<1>> \in [a : {1}]
Compare333 == <<1>> \in {1} \X {1}
Compare334 == <<1>> \in {}
Compare335 == <<"a">> \in {1}
Compare336 == <<"a">> \in {"a"}
Compare337 == <<"a">> \in {<<1>>}
Compare338 == <<"a">> \in 1..2
Compare339 == <<"a">> \in {TRUE}
Compare340 == <<"a">> \in {{1}}
Compare341 == <<"a">> \in {[a |-> 1]}
Compare342 == <<"a">> \in BOOLEAN
Compare343 == <<"a">> \in Nat
Compare344 == <<"a">> \in STRING
Compare345 == <<"a">> \in SUBSET {1}
Compare346 == <<"a">> \in Seq({1})
Compare347 == <<"a">> \in [{1} -> {1}]
Compare348 == <<"a">> \in [a : {1}]
Compare349 == <<"a">> \in {1} \X {1}
Compare350 == <<"a">> \in {}
Compare351 == <<>> \in {1}
Compare352 == <<>> \in {"a"}
Compare353 == <<>> \in {<<1>>}
Compare354 == <<>> \in 1..2
Compare355 == <<>> \in {TRUE}
Compare356 == <<>> \in {{1}}
Compare357 == <<>> \in {[a |-> 1]}
Compare358 == <<>> \in BOOLEAN
Compare359 == <<>> \in Nat
Compare360 == <<>> \in STRING
Compare361 == <<>> \in SUBSET {1}
Compare362 == <<>> \in Seq({1})
Compare363 == <<>> \in [{1} -> {1}]
Compare364 == <<>> \in [a : {1}]
Compare365 == <<>> \in {1} \X {1}
Compare366 == <<>> \in {}
Compare367 == [a |-> 1] \in {1}
Compare368 == [a |-> 1] \in {"a"}
Compare369 == [a |-> 1] \in {<<1>>}
Compare370 == [a |-> 1] \in 1..2
Compare371 == [a |-> 1] \in {TRUE}
Compare372 == [a |-> 1] \in {{1}}
Compare373 == [a |-> 1] \in {[a |-> 1]}
Compare374 == [a |-> 1] \in BOOLEAN
Compare375 == [a |-> 1] \in Nat
Compare376 == [a |-> 1] \in STRING
Compare377 == [a |-> 1] \in SUBSET {1}
Compare378 == [a |-> 1] \in Seq({1})
Compare379 == [a |-> 1] \in [{1} -> {1}]
Compare380 == [a |-> 1] \in [a : {1}]
Compare381 == [a |-> 1] \in {1} \X {1}
Compare382 == [a |-> 1] \in {}
Compare383 == [x \in {0} |-> 1] \in {1}
Compare384 == [x \in {0} |-> 1] \in {"a"}
Compare385 == [x \in {0} |-> 1] \in {<<1>>}
Compare386 == [x \in {0} |-> 1] \in 1..2
Compare387 == [x \in {0} |-> 1] \in {TRUE}
Compare388 == [x \in {0} |-> 1] \in {{1}}
Compare389 == [x \in {0} |-> 1] \in {[a |-> 1]}
Compare390 == [x \in {0} |-> 1] \in BOOLEAN
Compare391 == [x \in {0} |-> 1] \in Nat
Compare392 == [x \in {0} |-> 1] \in STRING
Compare393 == [x \in {0} |-> 1] \in SUBSET {1}
Compare394 == [x \in {0} |-> 1] \in Seq({1})
Compare395 == [x \in {0} |-> 1] \in [{1} -> {1}]
Compare396 == [x \in {0} |-> 1] \in [a : {1}]
Compare397 == [x \in {0} |-> 1] \in {1} \X {1}
Compare398 == [x \in {0} |-> 1] \in {}
Compare399 == {} \in {1}
Compare400 == {} \in {"a"}
Compare401 == {} \in {<<1>>}
Compare402 == {} \in 1..2
Compare403 == {} \in {TRUE}
Compare404 == {} \in {{1}}
Compare405 == {} \in {[a |-> 1]}
Compare406 == {} \in BOOLEAN
Compare407 == {} \in Nat
Compare408 == {} \in STRING
Compare409 == {} \in SUBSET {1}
Compare410 == {} \in Seq({1})
Compare411 == {} \in [{1} -> {1}]
Compare412 == {} \in [a : {1}]
Compare413 == {} \in {1} \X {1}
Compare414 == {} \in {}
Compare415 == {<<1>>} \in {1}
Compare416 == {<<1>>} \in {"a"}
Compare417 == {<<1>>} \in {<<1>>}
Compare418 == {<<1>>} \in 1..2
Compare419 == {<<1>>} \in {TRUE}
Compare420 == {<<1>>} \in {{1}}
Compare421 == {<<1>>} \in {[a |-> 1]}
Compare422 == {<<1>>} \in BOOLEAN
Compare423 == {<<1>>} \in Nat
Compare424 == {<<1>>} \in STRING
Compare425 == {<<1>>} \in SUBSET {1}
Compare426 == {<<1>>} \in Seq({1})
Compare427 == {<<1>>} \in [{1} -> {1}]
Compare428 == {<<1>>} \in [a : {1}]
Compare429 == {<<1>>} \in {1} \X {1}
Compare430 == {<<1>>} \in {}
Compare431 == SUBSET {1} \in {1}
Compare432 == SUBSET {1} \in {"a"}
Compare433 == SUBSET {1} \in {<<1>>}
Compare434 == SUBSET {1} \in 1..2
Compare435 == SUBSET {1} \in {TRUE}
Compare436 == SUBSET {1} \in {{1}}
Compare437 == SUBSET {1} \in {[a |-> 1]}
Compare438 == SUBSET {1} \in BOOLEAN
Compare439 == SUBSET {1} \in Nat
Compare440 == SUBSET {1} \in STRING
Compare441 == SUBSET {1} \in SUBSET {1}
Compare442 == SUBSET {1} \in Seq({1})
Compare443 == SUBSET {1} \in [{1} -> {1}]
Compare444 == SUBSET {1} \in [a : {1}]
Compare445 == SUBSET {1} \in {1} \X {1}
Compare446 == SUBSET {1} \in {}
Compare447 == [{1} -> {1}] \in {1}
Compare448 == [{1} -> {1}] \in {"a"}
Compare449 == [{1} -> {1}] \in {<<1>>}
Compare450 == [{1} -> {1}] \in 1..2
Compare451 == [{1} -> {1}] \in {TRUE}
Compare452 == [{1} -> {1}] \in {{1}}
Compare453 == [{1} -> {1}] \in {[a |-> 1]}
Compare454 == [{1} -> {1}] \in BOOLEAN
Compare455 == [{1} -> {1}] \in Nat
Compare456 == [{1} -> {1}] \in STRING
Compare457 == [{1} -> {1}] \in SUBSET {1}
Compare458 == [{1} -> {1}] \in Seq({1})
Compare459 == [{1} -> {1}] \in [{1} -> {1}]
Compare460 == [{1} -> {1}] \in [a : {1}]
Compare461 == [{1} -> {1}] \in {1} \X {1}
Compare462 == [{1} -> {1}] \in {}
Compare463 == {1} \subseteq {1}
Compare464 == {1} \cup {1}
Compare465 == {1} \cap {1}
Compare466 == {1} \ {1}
Compare467 == {1} \subseteq {"a"}
Compare468 == {1} \cup {"a"}
Compare469 == {1} \cap {"a"}
Compare470 == {1} \ {"a"}
Compare471 == {1} \subseteq {}
Compare472 == {1} \cup {}
Compare473 == {1} \cap {}
Compare474 == {1} \ {}
Compare475 == {1} \subseteq {<<1>>}
Compare476 == {1} \cup {<<1>>}
Compare477 == {1} \cap {<<1>>}
Compare478 == {1} \ {<<1>>}
Compare479 == {1} \subseteq {{1}}
Compare480 == {1} \cup {{1}}
Compare481 == {1} \cap {{1}}
Compare482 == {1} \ {{1}}
Compare483 == {1} \subseteq 1..2
Compare484 == {1} \cup 1..2
Compare485 == {1} \cap 1..2
Compare486 == {1} \ 1..2
Compare487 == {1} \subseteq {TRUE}
Compare488 == {1} \cup {TRUE}
Compare489 == {1} \cap {TRUE}
Compare490 == {1} \ {TRUE}
Compare491 == {"a"} \subseteq {1}
Compare492 == {"a"} \cup {1}
Compare493 == {"a"} \cap {1}
Compare494 == {"a"} \ {1}
Compare495 == {"a"} \subseteq {"a"}
Compare496 == {"a"} \cup {"a"}
Compare497 == {"a"} \cap {"a"}
Compare498 == {"a"} \ {"a"}
Compare499 == {"a"} \subseteq {}
Compare500 == {"a"} \cup {}
Compare501 == {"a"} \cap {}
Compare502 == {"a"} \ {}
Compare503 == {"a"} \subseteq {<<1>>}
Compare504 == {"a"} \cup {<<1>>}
Compare505 == {"a"} \cap {<<1>>}
Compare506 == {"a"} \ {<<1>>}
Compare507 == {"a"} \subseteq {{1}}
Compare508 == {"a"} \cup {{1}}
Compare509 == {"a"} \cap {{1}}
Compare510 == {"a"} \ {{1}}
Compare511 == {"a"} \subseteq 1..2
Compare512 == {"a"} \cup 1..2
Compare513 == {"a"} \cap 1..2
Compare514 == {"a"} \ 1..2
Compare515 == {"a"} \subseteq {TRUE}
Compare516 == {"a"} \cup {TRUE}
Compare517 == {"a"} \cap {TRUE}
Compare518 == {"a"} \ {TRUE}
Compare519 == {} \subseteq {1}
Compare520 == {} \cup {1}
Compare521 == {} \cap {1}
Compare522 == {} \ {1}
Compare523 == {} \subseteq {"a"}
Compare524 == {} \cup {"a"}
Compare525 == {} \cap {"a"}
Compare526 == {} \ {"a"}
Compare527 == {} \subseteq {}
Compare528 == {} \cup {}
Compare529 == {} \cap {}
Compare530 == {} \ {}
Compare531 == {} \subseteq {<<1>>}
Compare532 == {} \cup {<<1>>}
Compare533 == {} \cap {<<1>>}
Compare534 == {} \ {<<1>>}
Compare535 == {} \subseteq {{1}}
Compare536 == {} \cup {{1}}
Compare537 == {} \cap {{1}}
Compare538 == {} \ {{1}}
Compare539 == {} \subseteq 1..2
Compare540 == {} \cup 1..2
Compare541 == {} \cap 1..2
Compare542 == {} \ 1..2
Compare543 == {} \subseteq {TRUE}
Compare544 == {} \cup {TRUE}
Compare545 == {} \cap {TRUE}
Compare546 == {} \ {TRUE}
Compare547 == {<<1>>} \subseteq {1}
Compare548 == {<<1>>} \cup {1}
Compare549 == {<<1>>} \cap {1}
Compare550 == {<<1>>} \ {1}
Compare551 == {<<1>>} \subseteq {"a"}
Compare552 == {<<1>>} \cup {"a"}
Compare553 == {<<1>>} \cap {"a"}
Compare554 == {<<1>>} \ {"a"}
Compare555 == {<<1>>} \subseteq {}
Compare556 == {<<1>>} \cup {}
Compare557 == {<<1>>} \cap {}
Compare558 == {<<1>>} \ {}
Compare559 == {<<1>>} \subseteq {<<1>>}
Compare560 == {<<1>>} \cup {<<1>>}
Compare561 == {<<1>>} \cap {<<1>>}
Compare562 == {<<1>>} \ {<<1>>}
Compare563 == {<<1>>} \subseteq {{1}}
Compare564 == {<<1>>} \cup {{1}}
Compare565 == {<<1>>} \cap {{1}}
Compare566 == {<<1>>} \ {{1}}
Compare567 == {<<1>>} \subseteq 1..2
Compare568 == {<<1>>} \cup 1..2
Compare569 == {<<1>>} \cap 1..2
Compare570 == {<<1>>} \ 1..2
Compare571 == {<<1>>} \subseteq {TRUE}
Compare572 == {<<1>>} \cup {TRUE}
Compare573 == {<<1>>} \cap {TRUE}
Compare574 == {<<1>>} \ {TRUE}
Compare575 == {{1}} \subseteq {1}
Compare576 == {{1}} \cup {1}
Compare577 == {{1}} \cap {1}
Compare578 == {{1}} \ {1}
Compare579 == {{1}} \subseteq {"a"}
Compare580 == {{1}} \cup {"a"}
Compare581 == {{1}} \cap {"a"}
Compare582 == {{1}} \ {"a"}
Compare583 == {{1}} \subseteq {}
Compare584 == {{1}} \cup {}
Compare585 == {{1}} \cap {}
Compare586 == {{1}} \ {}
Compare587 == {{1}} \subseteq {<<1>>}
Compare588 == {{1}} \cup {<<1>>}
Compare589 == {{1}} \cap {<<1>>}
Compare590 == {{1}} \ {<<1>>}
Compare591 == {{1}} \subseteq {{1}}
Compare592 == {{1}} \cup {{1}}
Compare593 == {{1}} \cap {{1}}
Compare594 == {{1}} \ {{1}}
Compare595 == {{1}} \subseteq 1..2
Compare596 == {{1}} \cup 1..2
Compare597 == {{1}} \cap 1..2
Compare598 == {{1}} \ 1..2
Compare599 == {{1}} \subseteq {TRUE}
Compare600 == {{1}} \cup {TRUE}
Compare601 == {{1}} \cap {TRUE}
Compare602 == {{1}} \ {TRUE}
Compare603 == 1..2 \subseteq {1}
Compare604 == 1..2 \cup {1}
Compare605 == 1..2 \cap {1}
Compare606 == 1..2 \ {1}
Compare607 == 1..2 \subseteq {"a"}
Compare608 == 1..2 \cup {"a"}
Compare609 == 1..2 \cap {"a"}
Compare610 == 1..2 \ {"a"}
Compare611 == 1..2 \subseteq {}
Compare612 == 1..2 \cup {}
Compare613 == 1..2 \cap {}
Compare614 == 1..2 \ {}
Compare615 == 1..2 \subseteq {<<1>>}
Compare616 == 1..2 \cup {<<1>>}
Compare617 == 1..2 \cap {<<1>>}
Compare618 == 1..2 \ {<<1>>}
Compare619 == 1..2 \subseteq {{1}}
Compare620 == 1..2 \cup {{1}}
Compare621 == 1..2 \cap {{1}}
Compare622 == 1..2 \ {{1}}
Compare623 == 1..2 \subseteq 1..2
Compare624 == 1..2 \cup 1..2
Compare625 == 1..2 \cap 1..2
Compare626 == 1..2 \ 1..2
Compare627 == 1..2 \subseteq {TRUE}
Compare628 == 1..2 \cup {TRUE}
Compare629 == 1..2 \cap {TRUE}
Compare630 == 1..2 \ {TRUE}
Compare631 == {TRUE} \subseteq {1}
Compare632 == {TRUE} \cup {1}
Compare633 == {TRUE} \cap {1}
Compare634 == {TRUE} \ {1}
Compare635 == {TRUE} \subseteq {"a"}
Compare636 == {TRUE} \cup {"a"}
Compare637 == {TRUE} \cap {"a"}
Compare638 == {TRUE} \ {"a"}
Compare639 == {TRUE} \subseteq {}
Compare640 == {TRUE} \cup {}
Compare641 == {TRUE} \cap {}
Compare642 == {TRUE} \ {}
Compare643 == {TRUE} \subseteq {<<1>>}
Compare644 == {TRUE} \cup {<<1>>}
Compare645 == {TRUE} \cap {<<1>>}
Compare646 == {TRUE} \ {<<1>>}
Compare647 == {TRUE} \subseteq {{1}}
Compare648 == {TRUE} \cup {{1}}
Compare649 == {TRUE} \cap {{1}}
Compare650 == {TRUE} \ {{1}}
Compare651 == {TRUE} \subseteq 1..2
Compare652 == {TRUE} \cup 1..2
Compare653 == {TRUE} \cap 1..2
Compare654 == {TRUE} \ 1..2
Compare655 == {TRUE} \subseteq {TRUE}
Compare656 == {TRUE} \cup {TRUE}
Compare657 == {TRUE} \cap {TRUE}
Compare658 == {TRUE} \ {TRUE}
==============================================================================
