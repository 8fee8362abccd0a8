"""What the themed paragraphs say, as tables: English | Chinese with the same slots.

Each theme is three tables, parted by blank lines: headings, how a paragraph begins, and what may
follow in any order. `who` begins the paragraph and is `he` (or she) in it; what else stands in a
slot is drawn for each sentence, see `headway.text.everyday.senses`; a row with a number behind it
counts as so many. Everything here was written for headway; nothing was copied.
"""

GRAMMAR = """
nouns and verbs | 名词 和 动词
the part of speech of a word | 词 的 词性
how to find the part of speech | 怎样 判断 词性

{who.en} has a grammar lesson today | {who.zh} 今天 有 语法 课
{who.en} had a grammar lesson {past.en} | {who.zh} {past.zh} 上 了 一 节 语法 课
in the grammar lesson, {who.en} learned about parts of speech | 语法 课 上 ， {who.zh} 学习 了 词性
the grammar teacher wrote {n.en} sentences on the board for {who.en} | 语法 老师 在 黑板 上 给 {who.zh} 写 了 {n.zh} 个 句子
{who.en} read {n.en} pages of the grammar book {past.en} | {who.zh} {past.zh} 读 了 {n.zh} 页 语法 书

the word {noun.one} is a noun | “ {noun.zh} ” 这个 词 是 名词
the word {verb.base} is a verb | “ {verb.zh} ” 这个 词 是 动词
the word {adjective.en} is an adjective | “ {adjective.zh} ” 这个 词 是 形容词
{noun.one} and {noun2.one} are nouns, but {verb.base} is a verb | “ {noun.zh} ” 和 “ {noun2.zh} ” 是 名词 ， 但是 “ {verb.zh} ” 是 动词
the teacher asked for the part of speech of the word {noun.one} | 老师 问 “ {noun.zh} ” 这个 词 的 词性
the teacher asked {friend.en} for the part of speech of the word {verb.base} | 老师 问 {friend.zh} “ {verb.zh} ” 这个 词 的 词性
what is the part of speech of the word {adjective.en}? | “ {adjective.zh} ” 这个 词 的 词性 是 什么 ？
what is the part of speech of this word? | 这个 词 的 词性 是 什么 ？
{he.en} found the part of speech of every word in the sentence | {he.zh} 判断 了 句子 里 每个 词 的 词性
{he.en} wrote the part of speech under each of {n.en} words | {he.zh} 在 {n.zh} 个 词 下面 写 了 词性
{he.en} didn't know one word, so {he.en} looked up its part of speech | {he.zh} 不 认识 一 个 词 ， 所以 查 了 它 的 词性
a dictionary gives the meaning and the part of speech of a word | 词典 告诉 我们 词 的 意思 和 词性
please find the part of speech of each word | 请 判断 每个 词 的 词性
first find out whether this word is a noun or a verb | 先 判断 这个 词 是 名词 还是 动词
the part of speech of this word is {pos.en} | 这个 词 的 词性 是 {pos.zh}
the meaning of this word is easy, but its part of speech is difficult | 这个 词 的 意思 很 容易 ， 但是 它 的 词性 很 难
some words have two parts of speech | 有些 词 有 两 种 词性
{friend.en} cannot tell nouns from verbs yet | {friend.zh} 还 分不清 名词 和 动词
in this sentence, the verb comes after the noun | 在 这个 句子 里 ， 动词 在 名词 后面
this sentence has {n.en} words and one verb | 这个 句子 有 {n.zh} 个 词 和 一 个 动词
{seer.en} saw this word {past.en}, but {nobody.en} has {studied.en} its part of speech | 这个 词 {seer.zh} {past.zh} 见 过 ， 但是 {nobody.zh} {studied.zh} 过 它 的 词性 | 3
"""

MAGNETS = """
magnets and metals | 磁铁 和 金属
the magnetism of a magnet | 磁铁 的 磁性
how to test magnetism | 怎样 测试 磁性

{who.en} has a physics lesson today | {who.zh} 今天 有 物理 课
{who.en} had a physics lesson {past.en} | {who.zh} {past.zh} 上 了 一 节 物理 课
in the physics lesson, {who.en} tested a magnet | 物理 课 上 ， {who.zh} 测试 了 一 块 磁铁
the physics teacher put {n.en} magnets on the table for {who.en} | 物理 老师 在 桌子 上 给 {who.zh} 放 了 {n.zh} 块 磁铁
{who.en} found {n.en} old magnets {past.en} | {who.zh} {past.zh} 找到 了 {n.zh} 块 旧 磁铁

a magnet attracts things made of {metal.en} | 磁铁 能 吸住 {metal.zh} 做 的 东西
a magnet doesn't attract {plain.en} | 磁铁 不 能 吸住 {plain.zh}
this magnet lifted {n.en} iron nails | 这块 磁铁 吸住 了 {n.zh} 根 铁钉
the magnetism of this magnet is {strength.en} | 这块 磁铁 的 磁性 {strength.zh}
is the magnetism of this magnet {strength.en}? | 这块 磁铁 的 磁性 {strength.zh} 吗 ？
{plain.en} has no magnetism | {plain.zh} 没有 磁性
{plain.en} and {plain2.en} have no magnetism | {plain.zh} 和 {plain2.zh} 没有 磁性
iron has magnetism, but {plain.en} has none | 铁 有 磁性 ， 但是 {plain.zh} 没有
{he.en} tested the magnetism of {metal.en} | {he.zh} 测试 了 {metal.zh} 的 磁性
the teacher asked {friend.en} about the magnetism of {metal.en} | 老师 问 {friend.zh} {metal.zh} 的 磁性
when a magnet gets too hot, it loses its magnetism | 磁铁 太 热 的 时候 会 失去 磁性
{he.en} rubbed {n.en} nails with the magnet, and they became magnetic | {he.zh} 用 磁铁 摩擦 了 {n.zh} 根 铁钉 ， 铁钉 有 了 磁性
two north poles push each other away | 两 个 北极 互相 排斥
a north pole and a south pole attract each other | 北极 和 南极 互相 吸引
the needle of a compass is a small magnet | 指南针 的 针 是 一 块 小 磁铁
the magnetism of a magnet is strongest at its two ends | 磁铁 的 磁性 在 两 端 最 强
first find out whether this metal is magnetic | 先 判断 这种 金属 有没有 磁性
please test the magnetism of each material | 请 测试 每种 材料 的 磁性
what is the magnetism of this material like? | 这种 材料 的 磁性 怎么样 ？
many magnets are made of metal | 很多 磁铁 是 金属 做 的
{he.en} put the magnet next to a {metal_thing.en} | {he.zh} 把 磁铁 放 在 {metal_thing.zh} 旁边
this old magnet is big, but its magnetism is weak | 这块 旧 磁铁 很 大 ， 但是 它 的 磁性 很 弱
{seer.en} saw this magnet {past.en}, but {nobody.en} has {studied.en} its magnetism | 这块 磁铁 {seer.zh} {past.zh} 见 过 ， 但是 {nobody.zh} {studied.zh} 过 它 的 磁性 | 3
"""

FRUIT = """
at the fruit market | 水果 市场
ripe apples | 熟 的 苹果

{who.en} went to the fruit market {past.en} | {who.zh} {past.zh} 去 了 水果 市场
{who.en} sells fruit at the market | {who.zh} 在 市场 卖 水果
{who.en} bought {n.en} apples at the market {past.en} | {who.zh} {past.zh} 在 市场 买 了 {n.zh} 个 苹果
{who.en} and {friend.en} picked apples {past.en} | {who.zh} 和 {friend.zh} {past.zh} 一起 摘 了 苹果

{he.en} bought {n.en} {fruit.many} and {n2.en} {fruit2.many} | {he.zh} 买 了 {n.zh} {fruit.measure} {fruit.zh} 和 {n2.zh} {fruit2.measure} {fruit2.zh}
{he.en} ate a ripe apple on the way home | {he.zh} 在 回家 的 路 上 吃 了 一 个 熟 的 苹果
{he.en} ate a {taste.en} apple and a {taste2.en} orange | {he.zh} 吃 了 一 个 {taste.zh} 苹果 和 一 个 {taste2.zh} 橙子
these {taste.en} apples are delicious | 这些 {taste.zh} 苹果 很 好吃
ripe apples are red and sweet | 熟 的 苹果 又 红 又 甜
{friend.en} likes fresh {fruit.many} | {friend.zh} 喜欢 新鲜 的 {fruit.zh}
the freshest {fruit.many} come from {origin.en} | 最 新鲜 的 {fruit.zh} 来自 {origin.zh}
the freshest {fruit.many} are cheap today | 今天 最 新鲜 的 {fruit.zh} 很 便宜
the {fruit.many} cost {n.en} yuan a kilo | {fruit.zh} {n.zh} 元 一 公斤
{friend.en} makes juice from {fruit.many} | {friend.zh} 用 {fruit.zh} 做 果汁
{he.en} peeled an apple and gave it to {friend.en} | {he.zh} 削 了 一 个 苹果 ， 给 了 {friend.zh}
apple trees flower in spring | 苹果 树 在 春天 开花
are the {fruit.many} ripe? | {fruit.zh} 熟 了 吗 ？
{he.en} washed {n.en} apples | {he.zh} 洗 了 {n.zh} 个 苹果
the apples are sweeter than the {other_fruit.many} | 苹果 比 {other_fruit.zh} 甜
{he.en} sold {n.en} kilos of {fruit.many} {past.en} | {he.zh} {past.zh} 卖 了 {n.zh} 公斤 {fruit.zh}
an apple a day is good for you | 每天 吃 一 个 苹果 对 身体 好
"""

COMPANY = """
news about Apple | 苹果 公司 的 新闻
the new phone | 新 手机

{who.en} works for Apple in {city.en} | {who.zh} 在 {city.zh} 的 苹果 公司 工作
Apple showed a new {device.one} {past.en}, and {who.en} bought it | 苹果 公司 {past.zh} 发布 了 新 {device.zh} ， {who.zh} 买 了 一 {device.measure}
{who.en} bought an Apple computer {past.en} | {who.zh} {past.zh} 买 了 一 台 苹果 电脑
{who.en} has wanted an Apple phone for {n.en} years | {who.zh} 想要 苹果 手机 {n.zh} 年 了

Apple makes phones and computers | 苹果 公司 生产 手机 和 电脑
Apple is an American company | 苹果 是 一 家 美国 公司
Apple sold more {device.many} than last year | 苹果 公司 比 去年 卖 了 更 多 的 {device.zh}
Apple sold more phones in {city.en} this year | 苹果 公司 今年 在 {city.zh} 卖 了 更 多 的 手机
the new {device.one} from Apple has a better {part.en} | 苹果 公司 的 新 {device.zh} 有 更 好 的 {part.zh}
the {part.en} of the new Apple phone is very good | 苹果 新 手机 的 {part.zh} 非常 好
Apple hired {n.en} engineers in {city.en} this year | 苹果 公司 今年 在 {city.zh} 招 了 {n.zh} 位 工程师
an engineer at Apple tested the new software | 苹果 公司 的 工程师 测试 了 新 软件
{he.en} writes software for Apple phones | {he.zh} 为 苹果 手机 写 软件
many customers waited in front of the Apple shop | 很多 顾客 在 苹果 商店 前面 等
the most expensive {device.one} costs {amount.en} yuan | 最 贵 的 {device.zh} 要 {amount.zh} 元
the most expensive {device.one} is the newest one | 最 贵 的 {device.zh} 是 最 新 的
the battery of this Apple phone lasts {n.en} hours | 这部 苹果 手机 的 电池 能 用 {n.zh} 个 小时
{friend.en} showed {he.object} the new software | {friend.zh} 给 {he.zh} 看 了 新 软件
the company will open {n.en} shops in {city.en} | 公司 会 在 {city.zh} 开 {n.zh} 家 商店
is the new Apple computer fast? | 苹果 公司 的 新 电脑 快 吗 ？
Apple showed a new {device.one} in {city.en} | 苹果 公司 在 {city.zh} 发布 了 新 {device.zh}
"""

RIVER = """
by the river | 在 河边
the banks of the river | 河 的 两 岸

{who.en} walked along the river {past.en} | {who.zh} {past.zh} 沿着 河 散步
{who.en} went fishing in the river {past.en} | {who.zh} {past.zh} 去 河边 钓鱼
{who.en} and {friend.en} rowed a boat on the river {past.en} | {who.zh} 和 {friend.zh} {past.zh} 一起 在 河 里 划船
{who.en} sat by the river {past.en} | {who.zh} {past.zh} 坐 在 河边

the bank of the river was {ground.en} | 河岸 很 {ground.zh}
the muddy bank was full of {water_thing.en} | 泥泞 的 河岸 上 有 很多 {water_thing.zh}
{he.en} sat on the grassy bank and looked at the water | {he.zh} 坐 在 长满 草 的 河岸 上 看 水
{n.en} {water_animal.many} slept on the {ground.en} bank | {n.zh} {water_animal.measure} {water_animal.zh} 在 {ground.zh} 的 河岸 上 睡觉
{n.en} {water_animal.many} rested on the muddy bank | {n.zh} {water_animal.measure} {water_animal.zh} 在 泥泞 的 河岸 上 休息
{n.en} ducks swam to the other bank | {n.zh} 只 鸭子 游 到 了 对岸
the boat was tied to a tree on the bank | 小船 系 在 河岸 上 的 一 棵 树 上
a frog jumped from the bank into the water | 一 只 青蛙 从 河岸 上 跳 进 水 里
after the rain, the water rose over the bank | 下雨 以后 ， 水 漫 过 了 河岸
{he.en} caught {n.en} fish near the bank | {he.zh} 在 河岸 旁边 钓 了 {n.zh} 条 鱼
many trees grow along the bank of the river | 河岸 上 长 着 很多 树
{he.en} pulled the boat onto the muddy bank | {he.zh} 把 小船 拉 到 泥泞 的 河岸 上
{friend.en} waited on the bank in the sun | {friend.zh} 在 河岸 上 的 阳光 里 等
the river is {n.en} metres deep here | 这里 的 河 有 {n.zh} 米 深
is the water near the bank deep? | 河岸 旁边 的 水 深 吗 ？
by the river, the bank that {seer.en} saw {past.en} was {ground.en} | 在 河边 ， {seer.zh} {past.zh} 看见 的 河岸 很 {ground.zh} | 3
"""

MONEY = """
money in the bank | 银行 里 的 钱
at the bank | 在 银行

{who.en} went to the bank {past.en} to borrow money | {who.zh} {past.zh} 去 银行 借钱
{who.en} opened an account at the bank {past.en} | {who.zh} {past.zh} 在 银行 开 了 一 个 账户
{who.en} works at a bank in {city.en} | {who.zh} 在 {city.zh} 的 一 家 银行 工作
{who.en} wants to buy a house, so {he.en} needs a loan | {who.zh} 想 买 房子 ， 所以 需要 贷款

the bank lends money to {borrower.en} | 银行 借钱 给 {borrower.zh}
does the bank lend money to {borrower.en}? | 银行 借钱 给 {borrower.zh} 吗 ？
the bank gave {friend.en} a loan | 银行 给 了 {friend.zh} 一 笔 贷款
the bank gave {he.object} a loan of {amount.en} yuan | 银行 给 了 {he.zh} {amount.zh} 元 的 贷款
{he.en} put {amount.en} yuan in the bank | {he.zh} 在 银行 存 了 {amount.zh} 元
{he.en} took {amount.en} yuan out of {he.own} account | {he.zh} 从 {he.own_zh} 账户 里 取 了 {amount.zh} 元
the bank opens at nine and closes at five | 银行 九 点 开门 ， 五 点 关门
many customers waited in the bank | 很多 顾客 在 银行 里 排队
the interest on the loan is {percent.en} percent | 贷款 的 利息 是 百分之 {percent.zh}
the bank pays {percent.en} percent interest | 银行 付 百分之 {percent.zh} 的 利息
the bank counts its money every evening | 银行 每天 晚上 数 钱
a clerk at the bank counted the coins | 银行 的 一 位 职员 数 了 硬币
{he.own} money is safe in the bank | {he.own_zh} 钱 在 银行 里 很 安全
{friend.en} lost a bank card {past.en} | {friend.zh} {past.zh} 丢 了 一 张 银行 卡
{he.en} pays back {amount.en} yuan to the bank every month | {he.zh} 每月 还 银行 {amount.zh} 元
in the city, the bank that {seer.en} saw {past.en} was {business.en} | 在 城 里 ， {seer.zh} {past.zh} 看见 的 银行 {business.zh} | 3
"""

CAVE = """
animals of the night | 夜 里 的 动物
bats in the cave | 山洞 里 的 蝙蝠

{who.en} visited a dark cave {past.en} | {who.zh} {past.zh} 参观 了 一 个 黑暗 的 山洞
{who.en} saw {n.en} bats in a cave {past.en} | {who.zh} {past.zh} 在 山洞 里 看见 了 {n.zh} 只 蝙蝠
{who.en} and {friend.en} walked into a cave {past.en} | {who.zh} 和 {friend.zh} {past.zh} 一起 走进 了 一 个 山洞
{who.en} read a book about bats {past.en} | {who.zh} {past.zh} 读 了 一 本 关于 蝙蝠 的 书

{n.en} bats hung upside down from the roof of the cave | {n.zh} 只 蝙蝠 倒挂 在 山洞 顶 上
the bats hung upside down | 蝙蝠 倒挂 着
a bat sleeps during the day and flies at night | 蝙蝠 白天 睡觉 ， 晚上 飞
the bat caught {n.en} {insect.many} in the dark | 蝙蝠 在 黑暗 中 抓 了 {n.zh} 只 {insect.zh}
a {bat_kind.en} bat caught a {insect.one} | 一 只 {bat_kind.zh} 的 蝙蝠 抓 了 一 只 {insect.zh}
a bat finds {insect.many} with its ears | 蝙蝠 用 耳朵 找 {insect.zh}
the bat opened its wings and flew out of the cave | 蝙蝠 张开 翅膀 ， 飞 出 了 山洞
a young bat drinks the milk of its mother | 小 蝙蝠 喝 妈妈 的 奶
a bat is not a bird | 蝙蝠 不 是 鸟
bats eat {insect.many} and {insect2.many} | 蝙蝠 吃 {insect.zh} 和 {insect2.zh}
the wings of a bat are thin | 蝙蝠 的 翅膀 很 薄
{he.en} was afraid of the bats | {he.zh} 害怕 蝙蝠
it was cold and wet in the cave | 山洞 里 又 冷 又 湿
{friend.en} counted {n.en} bats | {friend.zh} 数 了 {n.zh} 只 蝙蝠
the bat flew over {he.own} head | 蝙蝠 从 {he.own_zh} 头 上 飞 过
can a bat see in the dark? | 蝙蝠 在 黑暗 中 看得见 吗 ？
in the cave, the bat that {seer.en} saw {past.en} was {bat_state.en} | 在 山洞 里 ， {seer.zh} {past.zh} 看见 的 蝙蝠 {bat_state.zh} | 3
"""

BASEBALL = """
a baseball game | 棒球 比赛
the new bat | 新 球棒

{who.en} played baseball in the park {past.en} | {who.zh} {past.zh} 在 公园 里 打 棒球
the team of {who.en} won a baseball game {past.en} | {who.zh} 的 球队 {past.zh} 赢 了 一 场 棒球 比赛
{who.en} bought a new baseball bat {past.en} | {who.zh} {past.zh} 买 了 一 根 新 的 棒球 球棒
{who.en} and {friend.en} are in the same baseball team | {who.zh} 和 {friend.zh} 在 同 一 个 棒球 队

{he.en} swung the bat and missed the ball | {he.zh} 挥 了 球棒 ， 但是 没有 打中 球
{he.en} swung the bat and hit the ball | {he.zh} 挥 了 球棒 ， 打中 了 球
{friend.en} swung the bat and hit the ball over the fence | {friend.zh} 挥 了 球棒 ， 把 球 打 过 了 篱笆
the bat hit the ball with a loud crack | 球棒 啪 的 一 声 打中 了 球
{he.own} bat is made of {bat_material.en} | {he.own_zh} 球棒 是 {bat_material.zh} 做 的
the bat broke {past.en}, so {he.en} needs a new one | 球棒 {past.zh} 断 了 ， 所以 {he.zh} 需要 一 根 新 的
{friend.en} threw the ball and {he.en} caught it | {friend.zh} 扔 球 ， {he.zh} 接住 了
the coach gave {he.object} a new bat | 教练 给 了 {he.zh} 一 根 新 球棒
the team won the game by {n.en} points | 球队 以 {n.zh} 分 赢 了 比赛
a good bat is not too heavy | 好 球棒 不 太 重
{he.en} held the bat with both hands | {he.zh} 用 两 只 手 握 着 球棒
{n.en} players were on the field | 球场 上 有 {n.zh} 个 球员
the coach told the players to run | 教练 让 球员 跑
who has the longest bat in the team? | 球队 里 谁 的 球棒 最 长 ？
{he.en} scored {n.en} points {past.en} | {he.zh} {past.zh} 得 了 {n.zh} 分
in the stadium, the bat that {seer.en} saw {past.en} was {wood_state.en} | 在 球场 上 ， {seer.zh} {past.zh} 看见 的 球棒 {wood_state.zh} | 3
"""

NICK = """
my friend Nick | 我 的 朋友 Nick
a handsome student | 很 帅 的 学生

{who.en} has a friend whose name is Nick | {who.zh} 有 一 个 朋友 叫 Nick
Nick is new in the class of {who.en} | Nick 是 {who.zh} 班 里 的 新 同学
{who.en} met Nick {past.en} | {who.zh} {past.zh} 见 了 Nick
{who.en} and Nick are in the same class | {who.zh} 和 Nick 在 同 一 个 班

hello, I am Nick | 大家 好 ， 我 是 Nick
Nick is the {best.en} boy in the class | Nick 是 班 里 最 {best.zh} 的 男孩
I am the {best.en} student in the class | 我 是 班 里 最 {best.zh} 的 学生
I am the {best.en} {person.en} | 我 是 最 {best.zh} 的 {person.zh}
I am the most handsome {person.en} | 我 是 最 帅 的 {person.zh}
this is the most handsome Nick in the school | 这 是 学校 里 最 帅 的 Nick
this is the most handsome Nick in {city.en} | 这 是 {city.zh} 最 帅 的 Nick
everybody says that Nick is handsome | 大家 都 说 Nick 很 帅
{friend.en} says that Nick is the most handsome boy | {friend.zh} 说 Nick 是 最 帅 的 男孩
handsome Nick bought a new {clothes.one} {past.en} | 很 帅 的 Nick {past.zh} 买 了 一 {clothes.measure} 新 {clothes.zh}
{friend.en} is {trait.en}, but Nick is more handsome | {friend.zh} 很 {trait.zh} ， 但是 Nick 更 帅
who is the most handsome student in the class? | 谁 是 班 里 最 帅 的 学生 ？
Nick looked in the mirror {n.en} times | Nick 照 了 {n.zh} 次 镜子
Nick thinks that {he.en} is very {trait.en} | Nick 觉得 {he.zh} 非常 {trait.zh}
Nick and {friend.en} took {n.en} photos | Nick 和 {friend.zh} 拍 了 {n.zh} 张 照片
"""

THEMES = (GRAMMAR, MAGNETS, FRUIT, COMPANY, RIVER, MONEY, CAVE, BASEBALL, NICK)

# --- what stands in the slots ---------------------------------------------------------------------

# the names of the slots that they may fill | English=Chinese, ..
PHRASES = """
pos | a noun=名词, a verb=动词, an adjective=形容词
nobody | nobody=没有 人, no student=没有 学生, no teacher=没有 老师
studied | studied=研究, discussed=讨论, explained=解释
metal | iron=铁, steel=钢, nickel=镍
plain bat_material | wood=木头
plain | paper=纸, glass=玻璃, plastic=塑料, rubber=橡胶
bat_material | metal=金属
strength | very strong=很 强, very weak=很 弱, strong enough=够 强
metal_thing | nail=钉子, needle=针, pin=别针
taste | sweet=甜, sour=酸, fresh=新鲜 的, ripe=熟 的
origin | the south=南方, the north=北方, the mountains=山 里
part | screen=屏幕, battery=电池, camera=相机
amount | three hundred=三百, five hundred=五百, six thousand=六千, eight thousand=八千
amount | ten thousand=一万
ground | muddy=泥泞, wet=潮湿, dry=干燥, soft=松软
water_thing | reeds=芦苇, grass=草, stones=石头
business | closed=关门 了, open=开 着, full=人 很 多
borrower | farmers=农民, young families=年轻 的 家庭, small shops=小 商店, students=学生
percent | two=二, three=三, four=四, five=五
bat_kind | hungry=饥饿, young=年轻, clever=聪明
bat_state | asleep=睡着 了, awake=醒 着, hungry=很 饿
wood_state | broken=断 了, wooden=是 木头 的, heavy=很 重
person | student=学生, boy=男孩, man=男人
"""

# what the everyday nouns lack
NOUNS = """
food   | pear=个 梨, peach=个 桃子
animal | frog=只 青蛙, turtle=只 乌龟, moth=只 飞蛾, fly=只 苍蝇
"""

# slot | the nouns that may fill it
NOUN_SLOTS = """
fruit        | apple banana orange pear peach
other_fruit  | banana orange pear peach
device       | phone computer watch
clothes      | hat coat shirt
water_animal | duck frog turtle
insect       | moth fly
"""
