"""The words of the everyday corpus, as tables: what each may be used for | English=Chinese, ..

The kinds say which words go together: a verb takes the nouns of its kinds, an adjective describes
them, a place suits the verbs that name its kind. Spaces in the Chinese part its words. Everything
here was written for headway; nothing was copied.
"""

NAMES = """
he  | Tom=汤姆, Peter=彼得, David=大卫, Jack=杰克, Zhang Wei=张伟, Wang Ming=王明, Mr Chen=陈先生
she | Mary=玛丽, Anna=安娜, Lucy=露西, Emma=艾玛, Li Na=李娜, Mrs Wang=王太太
"""

# 的: what stands between the possessor and the relative
RELATIVES = """
he     | father=爸爸, older brother=哥哥, younger brother=弟弟, grandfather=爷爷, son=儿子
she    | mother=妈妈, older sister=姐姐, younger sister=妹妹, grandmother=奶奶, daughter=女儿
he 的  | friend=朋友
she 的 | neighbour=邻居
"""

# subject | object | possessive | Chinese | be | was | do | have
PRONOUNS = """
I    | me   | my    | 我   | am  | was  | do   | have
you  | you  | your  | 你   | are | were | do   | have
he   | him  | his   | 他   | is  | was  | does | has
she  | her  | her   | 她   | is  | was  | does | has
we   | us   | our   | 我们 | are | were | do   | have
they | them | their | 他们 | are | were | do   | have
"""

NUMBERS = """
few  | two=两, three=三, four=四, five=五, six=六, seven=七, eight=八, nine=九, ten=十
few  | eleven=十一, twelve=十二
many | twenty=二十, thirty=三十, fifty=五十
"""

# singular, and the plural where no rule gives it; of Chinese, the measure word in front
NOUNS = """
person he         | boy=个 男孩, man/men=个 男人
person she        | girl=个 女孩, woman/women=个 女人
person job he     | student=个 学生, doctor=位 医生, driver=位 司机
person job she    | teacher=位 老师, nurse=位 护士, writer=位 作家
animal beast pet draw dog | dog=只 狗
animal beast pet draw | cat=只 猫, rabbit=只 兔子
animal beast farm draw | horse=匹 马, cow=头 牛, sheep/sheep=只 羊, pig=头 猪
animal beast wild | fox=只 狐狸, monkey=只 猴子, bear=只 熊, elephant=头 大象, tiger=只 老虎
animal beast wild | lion=只 狮子, panda=只 熊猫, mouse/mice=只 老鼠, animal=只 动物
animal bird pet draw | bird=只 鸟
animal bird farm draw water | duck=只 鸭子
animal water pet draw | fish/fish=条 鱼
read write goods gift | book=本 书
read write send   | letter=封 信
read write        | story=个 故事
read goods        | newspaper=份 报纸
song write        | song=首 歌
film              | film=部 电影
food goods        | apple=个 苹果, banana=根 香蕉, orange=个 橙子, egg=个 鸡蛋, slice of bread/bread=片 面包
food goods gift make | cake=个 蛋糕
food              | bowl of rice/rice=碗 米饭
food make         | bowl of noodles/noodles=碗 面条
drink             | cup of tea/tea=杯 茶, cup of coffee/coffee=杯 咖啡
drink             | glass of water/water=杯 水, glass of milk/milk=杯 牛奶
thing             | key=把 钥匙
thing send        | photo/photos=张 照片
thing goods       | ticket=张 票
thing goods gift  | umbrella=把 雨伞, watch=块 手表
thing goods gift use | pen=支 笔, phone=部 手机
thing goods use draw | map=张 地图
machine goods use | computer=台 电脑
furniture goods   | table=张 桌子, chair=把 椅子
vehicle goods     | bicycle=辆 自行车
vehicle goods draw | car=辆 汽车
wear goods gift   | hat=顶 帽子, coat=件 大衣, shirt=件 衬衫
wear goods        | pair of shoes/shoes=双 鞋子
flower goods draw gift | flower=朵 花
plant draw        | tree=棵 树
"""

# English, its past if it is irregular | Chinese, * where 了 goes if not at the end | 能 or 会 |
# objects | places | tenses, if not all; what animals do has their kinds as `by:`
VERBS = """
buy/bought       | 买        | 能 | goods pet farm       | shop city        | -
sell/sold        | 卖        | 能 | goods farm           | shop city        | -
read/read        | 读        | 能 | read                 | home study out   | -
write/wrote      | 写        | 会 | write                | home study       | -
eat/ate          | 吃        | 能 | food                 | home out study   | -
drink/drank      | 喝        | 能 | drink                | home out work    | -
make/made        | 做        | 会 | make                 | home             | -
draw/drew        | 画        | 会 | draw                 | home study out   | -
wash             | 洗        | 能 | wear vehicle         | out              | -
use              | 用        | 会 | use                  | home study work  | -
feed/fed         | 喂        | 能 | pet farm             | home             | -
see/saw          | 看见      | 能 | animal vehicle flower| out city travel  | past future
find/found       | 找到      | 能 | thing wear pet       | out home travel  | past future
watch            | 看        | 能 | film                 | home city        | -
give {}/gave     | 给 {}     | 能 | gift                 | study travel     | past future
send {}/sent     | 给 {} 寄  | 能 | send gift            | -                | -
show {}          | 给 {} 看  | 能 | thing animal read    | home study       | past future
help {}          | 帮助* {}  | 能 | -                    | home study work  | -
visit {}         | 看望* {}  | 能 | -                    | city             | -
meet {}/met      | 见* {}    | 能 | -                    | city travel out  | past habit future
invite {}        | 邀请* {}  | 能 | -                    | -                | past future
call {}          | 给 {} 打*电话 | 能 | -                | home work        | -
wait for {}      | 等* {}    | 能 | -                    | home travel out  | -
learn            | 学习      | 能 | -                    | home study       | -
learn English    | 学习* 英语 | 能 | -                   | study city       | -
learn Chinese    | 学习* 中文 | 能 | -                   | study city       | -
speak English/spoke | 说* 英语 | 会 | -                  | home study work  | habit now future
speak Chinese/spoke | 说* 中文 | 会 | -                  | home study work  | habit now future
teach {} English/taught | 教* {} 英语 | 能 | -           | study home       | -
teach {} history/taught | 教* {} 历史 | 能 | -           | study home       | -
swim/swam        | 游*泳     | 会 | -                    | city             | -
run/ran          | 跑*步     | 能 | -                    | out study        | -
dance            | 跳*舞     | 会 | -                    | home out study   | -
sing/sang        | 唱* 歌    | 会 | -                    | home out study   | -
sing/sang        | 唱        | 会 | song                 | home out study   | -
cook             | 做*饭     | 会 | -                    | home             | -
work             | 工作      | 能 | -                    | work city home   | -
rest             | 休息      | 能 | -                    | home out work    | -
sleep/slept      | 睡*觉     | 能 | -                    | home travel      | -
play football    | 踢* 足球  | 会 | -                    | out study        | -
play basketball  | 打* 篮球  | 会 | -                    | out study        | -
play the piano   | 弹* 钢琴  | 会 | -                    | home study       | -
watch television | 看* 电视  | 能 | -                    | home             | -
listen to music  | 听* 音乐  | 能 | -                    | home out work    | -
laugh            | 笑        | 能 | -                    | home out study   | -
cry              | 哭        | 能 | -                    | home out study   | -
walk             | 走*路     | 能 | -                    | out              | -
run/ran          | 跑        | 会 | -                    | out home         | by:beast
walk             | 走        | 会 | -                    | out home         | by:beast
jump             | 跳        | 会 | -                    | out home         | by:beast
play             | 玩        | 会 | -                    | out home         | by:beast
sleep/slept      | 睡*觉     | 会 | -                    | out home         | by:animal
rest             | 休息      | 会 | -                    | out home         | by:animal
eat/ate          | 吃* 东西  | 会 | -                    | out home         | by:animal
eat/ate          | 吃        | 会 | food                 | out home         | by:beast
drink/drank      | 喝        | 会 | drink                | out home         | by:beast
bark             | 叫        | 会 | -                    | out home         | by:dog
swim/swam        | 游*泳     | 会 | -                    | out              | by:water
fly/flew         | 飞        | 会 | -                    | out              | by:bird
sing/sang        | 唱* 歌    | 会 | -                    | out home         | by:bird
"""

PLACES = """
home     | at home=家里, in the kitchen=厨房 里
home out | in the garden=花园 里
study    | at school=学校, in the library=图书馆, in the classroom=教室 里
out      | in the park=公园 里, by the river=河边
shop     | in the shop=商店 里, at the market=市场
work     | in the office=办公室, at the hospital=医院
travel   | at the station=车站, at the airport=机场
city     | in Beijing=北京, in Shanghai=上海, in London=伦敦
"""

# where one goes: English after "go" | Chinese after 去
DESTINATIONS = """
-    | to school=学校, to the park=公园, to the library=图书馆, to the market=市场, to the shop=商店
-    | to the station=车站, to the airport=机场, to the hospital=医院
city | to Beijing=北京, to Shanghai=上海, to London=伦敦
"""

TIMES = """
past   | yesterday=昨天, yesterday morning=昨天 早上, yesterday evening=昨天 晚上, last night=昨夜
past   | last week=上周, last month=上个月, last year=去年
past   | last Monday=上周一, last Friday=上周五, last Sunday=上周日
future | tomorrow=明天, tomorrow morning=明天 早上, tomorrow evening=明天 晚上
future | next week=下周, next month=下个月, next year=明年
future | next Monday=下周一, next Friday=下周五, next Sunday=下周日
habit  | every day=每天, every morning=每天 早上, every evening=每天 晚上, every week=每周
habit  | every Monday=每周一, every Friday=每周五, every Sunday=每周日
"""

# "two days ago" | Chinese with the measure word
SPANS = "- | days=天, weeks=个 星期, months=个 月, years=年"
FREQUENCIES = "- | often=经常, always=总是, sometimes=有时候, usually=通常, never=从不"
WEATHER = "- | cold=冷, warm=暖和, hot=热, windy=风 大"

# behind the slash: in front of a noun, where it may stand there
ADJECTIVES = """
state beast | tired=累, happy=高兴, hungry=饿, thirsty=渴, sleepy=困
state | busy=忙, sad=难过, angry=生气, nervous=紧张
trait | tall=高, short=矮, kind=善良, strong=强壮, famous=有名, careful=细心
trait person | young=年轻/年轻 的, clever=聪明/聪明 的
animal vehicle furniture food plant | big=大/大, small=小/小
vehicle furniture thing wear machine | new=新/新, old=旧/旧
vehicle furniture wear machine | expensive=贵/昂贵 的
vehicle furniture wear machine food | cheap=便宜/便宜 的
flower wear pet | beautiful=漂亮/漂亮 的
read film | interesting=有趣/有趣 的
read | difficult=难/难懂 的
write film | long=长/长
food | fresh=新鲜/新鲜 的
drink | hot=烫/热
wear vehicle flower furniture | red=/红色 的
wear vehicle flower animal | white=/白色 的
wear vehicle animal furniture | black=/黑色 的
wear vehicle thing | blue=/蓝色 的
"""

# a fixed place in a room, and what may be said of it
SPOTS = """
on under        | table=桌子, bed=床
on under behind | chair=椅子
in on behind    | box=箱子
in behind       | bag=包
behind front    | door=门, house=房子
under behind    | tree=树
"""
RELATIONS = """
on | on=上
in | in=里
under | under=下面
behind | behind=后面
front | in front of=前面
"""

# --- who is *it*? -------------------------------------------------------------------------------

# group | candidates: the reasons that fit this one and not what acts on it
THINGS = """
way     | street=条 马路: wide busy dangerous noisy, road=条 公路: wide busy dangerous slippery
way     | river=条 河: wide deep dangerous dirty, bridge=座 桥: narrow long dangerous slippery
barrier | wall=堵 墙: high wide thick, fence=道 篱笆: high wide, stream=条 小溪: wide deep
height  | tree=棵 树: high slippery thin, mountain=座 山: high steep dangerous
height  | ladder=架 梯子: high steep slippery
food    | fish=条 鱼: salty cold dirty, cake=个 蛋糕: sweet hard salty
food    | bread=片 面包: hard sour salty, meat=块 肉: salty hard cold
treat   | fish=条 鱼: fresh delicious, cake=个 蛋糕: sweet soft delicious
treat   | bread=片 面包: fresh soft delicious, meat=块 肉: fresh soft delicious
shelter | cave=个 山洞: dark noisy dirty wet, house=座 房子: dark noisy dirty
shelter | room=个 房间: dark noisy chilly
object  | ball=个 球:, table=张 桌子:, chair=把 椅子:, picture=幅 画:, computer=台 电脑:
holder  | box=个 箱子: small narrow filled, bag=个 包: small narrow filled
holder  | car=辆 汽车: small narrow filled, cupboard=个 柜子: small narrow filled
vehicle | truck=辆 卡车:, bus=辆 公交车:, car=辆 汽车:
span    | bridge=座 桥: narrow slippery shaky
track   | tunnel=条 隧道: narrow low dark, gate=道 大门: narrow low, lane=条 小巷: narrow dark
"""

# first | second | modes | English | Chinese, * where 了 goes | the reasons that fit the first alone
SCENES = """
beast   | way     | didn't couldn't can't won't | cross the {b}       | 过* {b}   | tired hungry lazy sleepy frightened nervous weak thirsty
beast   | barrier | didn't couldn't can't won't | jump over the {b}   | 跳过* {B} | tired hungry lazy sleepy frightened weak fat slow
beast   | height  | didn't couldn't can't won't | climb the {b}       | 爬上* {B} | tired hungry lazy sleepy frightened weak fat nervous
beast   | food    | didn't won't                | eat the {b}/ate     | 吃* {B}   | tired sleepy frightened nervous full thirsty
beast   | treat   | did                         | eat the {b}/ate     | 吃* {B}   | hungry greedy
beast   | shelter | didn't won't                | go into the {b}/went | 走进* {B} | tired lazy frightened nervous shy hungry
object  | holder  | couldn't can't              | go into the {b}/went | 放进* {B} | big long wide heavy
vehicle | span    | didn't couldn't can't       | cross the {b}       | 过* {b}   | heavy wide slow
vehicle | track   | didn't couldn't can't       | go through the {b}/went | 通过* {B} | high wide
"""

# how an event fails, or does not | English | Chinese | the verb of its reason
MODES = """
did      | -               | -    | was
didn't   | didn't          | 没有 | was
couldn't | couldn't        | 没 能 | was
can't    | can't           | 不 能 | is
won't    | doesn't want to | 不 想 | is
"""

# name of the reason, its English where that is another
REASONS = """
- | tired=累, hungry=饿, lazy=懒, sleepy=困, frightened=害怕, nervous=紧张, weak=虚弱, thirsty=渴
- | fat=胖, slow=慢, shy=害羞, full=饱, filled/full=满, greedy=贪吃, wide=宽, busy=繁忙, dangerous=危险
- | noisy=吵, slippery=滑, shaky=不 稳, deep=深, dirty=脏, narrow=窄, long=长, high=高, thick=厚
- | thin=细, steep=陡, salty=咸, cold=凉, chilly/cold=冷, sweet=甜, hard=硬, sour=酸
- | fresh=新鲜, delicious=好吃, soft=软, dark=黑, wet=潮湿, small=小, big=大, heavy=重, low=低
"""
