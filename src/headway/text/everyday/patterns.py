"""The patterns of the everyday corpus: English | Chinese, with the same slots in each one's order.

A pattern becomes a sentence when `headway.text.everyday.sentences` fills its slots; `verb(s)`
agrees with `who`. Chinese words are parted by spaces; the edge of a slot is the edge of a word.
"""

# tense | object | English | Chinese; the object is some, any, bare, the, skill, or asked for
ACTIONS = """
past  |some | {who} {did} {what} {where} {when}             | {who}{when}{where}{done}{what}
past  |some | {when} {who} {did} {what} {where}             | {when}{who}{where}{done}{what}
past  |any  | {who} didn't {do} {what} {where} {when}       | {who}{when}没有{where}{do}{what}
habit |bare | {who} {does} {what} {where} {when}            | {who}{when}{where}{do}{what}
habit |bare | {when} {who} {does} {what} {where}            | {when}{who}{where}{do}{what}
often |bare | {who} {often} {does} {what} {where}           | {who}{often}{where}{do}{what}
often |bare | {who} {often} {does} {what} {where}           | {who}{often}{where}{do}{what}
habit |bare | {who} {aux}n't {do} {what} {where}            | {who}不{where}{do}{what}
now   |some | {who} {be} {doing} {what} {where}             | {who}正在{inside}{do}{what}
now   |some | {who} {be} {doing} {what} {where} now         | {who}现在 正在{inside}{do}{what}
future|some | {who} will {do} {what} {where} {when}         | {who}{when}会{where}{do}{what}
future|some | {when} {who} will {do} {what} {where}         | {when}{who}会{where}{do}{what}
future|any  | {who} won't {do} {what} {where} {when}        | {who}{when}不 会{where}{do}{what}
can   |skill| {who} can {do} {what}                         | {who}{can}{do}{what}
can   |skill| {who} can't {do} {what}                       | {who}不{can}{do}{what}
future|some | {who} must {do} {what} {where} {when}         | {who}{when}必须{where}{do}{what}
future|some | {who} should {do} {what} {where} {when}       | {who}{when}应该{where}{do}{what}
future|any  | {who} shouldn't {do} {what} {where} {when}    | {who}{when}不 应该{where}{do}{what}
future|some | {who} want(s) to {do} {what} {where} {when}    | {who}{when}想{where}{do}{what}
future|any  | {who} {aux}n't want to {do} {what} {where} {when}| {who}{when}不 想{where}{do}{what}
future|some | {who} plan(s) to {do} {what} {where} {when}    | {who}{when}打算{where}{do}{what}
"""

QUESTIONS = """
past  |some | did {who} {do} {what} {where} {when}          | {who}{when}{where}{done}{what}吗
past  |asked| what did {who} {do} {where} {when}            | {who}{when}{where}{done}什么
past  |some | why did {who} {do} {what} {where} {when}      | {who}{when}为什么{where}{done}{what}
past  |some | who {did} {what} {where} {when}               | 谁{when}{where}{done}{what}
past  |count| how many {what} did {who} {do} {where} {when} | {who}{when}{where}{done}多少{what}
habit |bare | {aux} {who} {do} {what} {where} {when}        | {who}{when}{where}{do}{what}吗
habit |bare | who {third} {what} {where} {when}             | 谁{when}{where}{do}{what}
habit |bare | where {aux} {who} {do} {what} {when}          | {who}{when}在 哪里{do}{what}
habit |bare | why {aux} {who} {do} {what} {where} {when}    | {who}{when}为什么{where}{do}{what}
now   |some | {be} {who} {doing} {what} {where}             | {who}正在{inside}{do}{what}吗
now   |asked| what {be} {who} {doing} {where}               | {who}正在{inside}{do}什么
now   |some | who is {doing} {what} {where}                 | 谁 正在{inside}{do}{what}
future|some | will {who} {do} {what} {where} {when}         | {who}{when}会{where}{do}{what}吗
future|asked| what will {who} {do} {where} {when}           | {who}{when}会{where}{do}什么
future|some | when will {who} {do} {what} {where}           | {who}什么时候 会{where}{do}{what}
future|some | who will {do} {what} {where} {when}           | 谁{when}会{where}{do}{what}
can   |skill| can {who} {do} {what}                         | {who}{can}{do}{what}吗
can   |skill| who can {do} {what}                           | 谁{can}{do}{what}
future|some | {aux} {who} want to {do} {what} {where} {when}| {who}{when}想{where}{do}{what}吗
future|asked| what {aux} {who} want to {do} {where} {when}  | {who}{when}想{where}{do}什么
"""

# an animal, or somebody whom one sees: the simple present says what is going on
SIGHTS = """
now   |bare | {who} {does} {what}                           | {who}在{do}{what}
now   |bare | {who} {does} {what} {where}                   | {who}在{inside}{do}{what}
now   |bare | {who} {does} {what} {where}                   | {who}在{inside}{do}{what}
now   |some | {who} {be} {doing} {what} {where}             | {who}正在{inside}{do}{what}
now   |some | {be} {who} {doing} {what} {where}?            | {who}正在{inside}{do}{what}吗？
past  |some | {who} {did} {what} {where} {when}             | {who}{when}{where}{done}{what}
past  |some | {who} {did} {what}                            | {who}{done}{what}
past  |any  | {who} didn't {do} {what} {where} {when}       | {who}{when}没有{where}{do}{what}
habit |bare | {who} {often} {does} {what} {where}           | {who}{often}{where}{do}{what}
habit |bare | {who} {aux}n't {do} {what} {where}            | {who}不{where}{do}{what}
can   |skill| {who} can {do} {what}                         | {who}{can}{do}{what}
can   |skill| {who} can't {do} {what}                       | {who}不{can}{do}{what}
can   |skill| can {who} {do} {what}?                        | {who}{can}{do}{what}吗？
future|some | {who} want(s) to {do} {what} {where}          | {who}想{where}{do}{what}
"""

PROMISES = """
future|some | {who} will {do} {what} {where} {when}         | {who}{when}会{where}{do}{what}
"""

# when the tense is the future
REQUESTS = """
future|some | please {do} {what} {where} {when}             | 请{when}{where}{do}{what}
future|some | please don't {do} {what} {where}              | 请 不要{where}{do}{what}
future|some | let's {do} {what} {where} {when}              | 我们{when}{where}{do}{what}吧
future|some | can you {do} {what} {where} {when}?           | 你{when}能{where}{do}{what}吗？
"""

POSTURES = """
{who} sit(s) {spot}               | {who}坐 在{spot}
{who} {be} sitting {spot}         | {who}正 坐 在{spot}
{who} stand(s) {spot}             | {who}站 在{spot}
{who} {be} standing {spot}        | {who}正 站 在{spot}
{who} sit(s)                      | {who}坐 着
{who} stand(s)                    | {who}站 着
{who} {be} {spot}                 | {who}在{spot}
what {be} {who} doing?            | {who}在 做 什么？
where {be} {who}?                 | {who}在 哪里？
"""

# English | Chinese | the subjects it suits: a person's state or trait, a thing
DESCRIPTIONS = """
{who} {be} {adj}                 | {who}很{adj}             | state trait thing beast
{who} {be} very {adj}            | {who}非常{adj}           | state trait thing beast
{who} {be} too {adj}             | {who}太{adj}了           | state thing beast
{who} {be} not {adj}             | {who}不{adj}             | state trait thing beast
{who} {was} too {adj}            | {who}太{adj}了           | state beast
{who} {was} {adj} {past}         | {who}{past}很{adj}       | state
{past} {who} {was} very {adj}    | {past}{who}非常{adj}     | state
{who} {was} not {adj} {past}     | {who}{past}不{adj}       | state
{be} {who} {adj}?                | {who}{adj}吗？           | state trait thing beast
{was} {who} {adj} {past}?        | {who}{past}{adj}吗？     | state
why {be} {who} so {adj}?         | {who}为什么 这么{adj}？  | state thing beast
"""

COMPARISONS = """
{who} {be} {more} than {other}            | {who}比{other}{adj}       | trait thing
{who} {be} much {more} than {other}       | {who}比{other}{adj}得 多  | trait thing
{who} {be} a little {more} than {other}   | {who}比{other}{adj}一点   | trait thing
{who} {be} as {adj} as {other}             | {who}和{other}一样{adj}   | trait thing
{who} {be} not as {adj} as {other}         | {who}没有{other}那么{adj} | trait thing
{be} {who} {more} than {other}?           | {who}比{other}{adj}吗？   | trait thing
{who} {be} {n} years older than {other}   | {who}比{other}大{n}岁     | trait
{who} {be} {n} years younger than {other} | {who}比{other}小{n}岁     | trait
"""

# what somebody has, needs, wants: count, known and bare are three ways to name a noun
POSSESSIONS = """
{who} {have} {count}                    | {who}有{count}
{who} {have} {count}                    | {who}有{count}
{who} {aux}n't have any {many}          | {who}没有{many}
{aux} {who} have any {many}?            | {who}有{many}吗？
how many {measured} {aux} {who} have?   | {who}有 多少{measured}？
who has {count}?                        | 谁 有{count}？
{who} need(s) {count}                    | {who}需要{count}
{who} {aux}n't need {known}             | {who}不 需要{known}
{who} want(s) {count}                    | {who}想要{count}
{aux} {who} want {known}?               | {who}想要{known}吗？
{who} {was} looking for {known}         | {who}在 找{known}
{who} lost {lost} {past}                | {who}{past}丢 了{lost}
{this} is {own}                         | {this}是{own}
{this} is not {own}                     | {this}不 是{own}
is {this} {own}?                        | {this}是{own}吗？
whose {measured} are these?             | 这些 是 谁 的{many}？
"""

# what somebody likes: a thing, an activity, a person
LIKINGS = """
{who} like(s) {liked}              | {who}喜欢{liked}
{who} love(s) {liked}              | {who}爱{liked}
{who} really like(s) {liked}       | {who}很 喜欢{liked}
{who} hate(s) {liked}              | {who}讨厌{liked}
{who} {aux}n't like {liked}       | {who}不 喜欢{liked}
{who} {aux}n't love {liked}       | {who}不 爱{liked}
{aux} {who} like {liked}?         | {who}喜欢{liked}吗？
why {aux} {who} like {liked}?     | {who}为什么 喜欢{liked}？
who likes {liked}?                | 谁 喜欢{liked}？
what {aux} {who} like?            | {who}喜欢 什么？
{who} like(s) {liked} more than {rest} | 比起{rest}，{who}更 喜欢{liked}
"""

ACQUAINTANCES = """
{who} know(s) {other}              | {who}认识{other}
{who} {aux}n't know {other}       | {who}不 认识{other}
{aux} {who} know {other}?         | {who}认识{other}吗？
{who} miss(s) {other}              | {who}想念{other}
{who} love(s) {other}              | {who}爱{other}
{who} like(s) {other}              | {who}喜欢{other}
{who} {aux}n't like {other}       | {who}不 喜欢{other}
"""

WHEREABOUTS = """
where {be} {who}?                 | {who}在 哪里？
{who} {be} {place}                | {who}在{place}
{who} {be} not {place}            | {who}不 在{place}
{be} {who} {place}?               | {who}在{place}吗？
{who} {was} {place} {past}        | {who}{past}在{place}
where {was} {who} {past}?         | {who}{past}在 哪里？
{who} come(s) from {city}          | {who}来自{city}
{who} {have} been to {city}       | {who}去 过{city}
{who} {have} never been to {city} | {who}从来 没有 去 过{city}
who is {place}?                   | 谁 在{place}？
"""

THERE_IS = """
there is {one} {spot}                 | {spot}有{one}
there are {several} {spot}            | {spot}有{several}
is there {one} {spot}?                | {spot}有{one}吗？
there aren't any {many} {spot}        | {spot}没有{many}
how many {measured} are there {spot}? | {spot}有 多少{measured}？
what is {spot}?                       | {spot}有 什么？
{thing} {is} {spot}                   | {thing}在{spot}
{is} {thing} {spot}?                  | {thing}在{spot}吗？
where {is} {thing}?                   | {thing}在 哪里？
"""

JOBS = """
{who} {be} a {job}                | {who}是{job}
{who} {be} not a {job}            | {who}不 是{job}
{be} {who} a {job}?               | {who}是{job}吗？
{who} want(s) to be a {job}        | {who}想 当{job}
{who} {aux}n't want to be a {job} | {who}不 想 当{job}
who {be} {who}?                   | {who}是 谁？
{who} {be} a {job} {in_city}        | {who}在{in_city}当{job}
{who} {be} {n} years old          | {who}{n}岁
{who} {be} not {n} years old      | {who}不 是{n}岁
{be} {who} {n} years old?         | {who}{n}岁 吗？
how old {be} {who}?               | {who}多大？
"""

WEATHER = """
it is {weather} {somewhere} today         | 今天{somewhere}很{weather}
it is very {weather} {somewhere} today    | 今天{somewhere}非常{weather}
it was {weather} {somewhere} {past}       | {past}{somewhere}很{weather}
it was not {weather} {somewhere} {past}   | {past}{somewhere}不{weather}
it will be {weather} {somewhere} {future} | {future}{somewhere}会 很{weather}
is it {weather} {somewhere} today?        | 今天{somewhere}{weather}吗？
it rained {somewhere} {past}          | {past}{somewhere}下雨 了
it will rain {somewhere} {future}     | {future}{somewhere}会 下雨
will it snow {somewhere} {future}?    | {future}{somewhere}会 下雪 吗？
it was raining {somewhere} {past}     | {past}{somewhere}在 下雨
it was snowing {somewhere} {past}     | {past}{somewhere}在 下雪
will it rain {somewhere} {future}?    | {future}{somewhere}会 下雨 吗？
"""

# `clause` is any statement; `again` is the pronoun of the person who speaks
REPORTS = """
{who} say(s) that {clause}        | {who}说{clause}
{who} think(s) that {clause}      | {who}觉得{clause}
{who} know(s) that {clause}       | {who}知道{clause}
{who} hope(s) that {promise}       | {who}希望{promise}
{aux} {who} know that {clause}?  | {who}知道{clause}吗？
{who} {aux}n't know why {again} {was} {state} | {who}不 知道{again}为什么{state}
"""

# a tense and whose clause it is: `own` and `other` name a time, `soon` and `again` (the same person
# as a pronoun) name none
JOINED = """
{past_own} because {again} {was} {state}             | {past_own}，因为{again}很{state}
{past_own} because {again} {was} too {state}         | {past_own}，因为{again}太{state}了
{past_own} because {again} {was} not {state}         | {past_own}，因为{again}不{state}
{who} {was} {state}, so {past_again}             | {who}很{state}，所以{past_again}
{who} {was} very {state}, but {past_again}       | {who}非常{state}，但是{past_again}
{now_own}, but {now_other}                           | {now_own}，但是{now_other}
{now_own}, and {now_other}                           | {now_own}，{now_other}
{can_own}, but {can_other}                           | {can_own}，但是{can_other}
if it rains {future}, {future_soon}                | 如果{future}下雨，{future_soon}
if it snows {future}, {future_soon}                | 如果{future}下雪，{future_soon}
if {who} {be} {state}, {future_again}            | 如果{who}{state}，{future_again}
if {who} {have} {count}, {future_again}          | 如果{who}有{count}，{future_again}
before {doing}, {past_soon}                       | {doing}以前，{past_soon}
after {doing}, {past_soon}                       | {doing}以后，{past_soon}
"""

RELATIVES = """
{noun} that {who} {did} {past} is {adj}        | {who}{past}{did}的{noun}很{adj}
{noun} that {who} {did} {past} is very {adj}   | {who}{past}{did}的{noun}非常{adj}
{noun} that {who} {did} {past} is too {adj}    | {who}{past}{did}的{noun}太{adj}了
{noun} that {who} {did} {past} is not {adj}    | {who}{past}{did}的{noun}不{adj}
{who} like(s) {noun} that {other} {did} {past}      | {who}喜欢{other}{past}{did}的{noun}
{who} {aux}n't like {noun} that {other} {did} {past} | {who}不 喜欢{other}{past}{did}的{noun}
"""

# the Chinese must say what *it* is: `named` is the one of the two that the reason fits
IT = """
the {first} {event} because it {was} {why}       | {first}{event}，因为{named}很{why}
the {first} {event} because it {was} very {why}  | {first}{event}，因为{named}非常{why}
the {first} {event} because it {was} too {why}   | {first}{event}，因为{named}太{why}了
the {first} {event} because it {was} too {why}   | {first}{event}，因为{named}太{why}了
"""

# half of such a sentence
PLAIN = """
the {first} {event}       | {first}{event}
the {first} {event}       | {first}{event}
the {named} was {why}     | {named}很{why}
the {named} was very {why} | {named}非常{why}
the {named} was too {why} | {named}太{why}了
the {named} is too {why}  | {named}太{why}了
the {named} is not {why}  | {named}不{why}
is the {named} {why}?     | {named}{why}吗？
"""

# a person acts: *it* can only be the thing, and he or she stays 他 or 她
NOT_IT = """
{who} {event} because it was too {why}           | {who}{event}，因为{named}太{why}了
{who} {event} because it was very {why}          | {who}{event}，因为{named}非常{why}
{who} {event} because {again} {was} too {state}  | {who}{event}，因为{again}太{state}了
"""
