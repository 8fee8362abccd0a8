"""The words of the everyday corpus, as tables: English | Chinese | how they may be used.

One row, one word; a dash is an empty cell. The last column says which words go together: a verb
takes the nouns of its kinds, an adjective describes them, a place suits the verbs that name its
kind. Spaces in the Chinese part its words. Everything here was written for headway; nothing was copied.
"""

# name | Chinese | he or she
NAMES = """
Tom      | 汤姆   | he
Peter    | 彼得   | he
David    | 大卫   | he
Jack     | 杰克   | he
Zhang Wei| 张伟   | he
Wang Ming| 王明   | he
Mr Chen  | 陈先生 | he
Mary     | 玛丽   | she
Anna     | 安娜   | she
Lucy     | 露西   | she
Emma     | 艾玛   | she
Li Na    | 李娜   | she
Mrs Wang | 王太太 | she
"""

# relative | Chinese | he or she | what stands between the possessor and the relative
RELATIVES = """
mother          | 妈妈 | she | -
father          | 爸爸 | he  | -
older brother   | 哥哥 | he  | -
younger brother | 弟弟 | he  | -
older sister    | 姐姐 | she | -
younger sister  | 妹妹 | she | -
grandfather     | 爷爷 | he  | -
grandmother     | 奶奶 | she | -
son             | 儿子 | he  | -
daughter        | 女儿 | she | -
friend          | 朋友 | he  | 的
neighbour       | 邻居 | she | 的
"""

# person | plural | measure word | Chinese | he or she | job
ROLES = """
boy     | boys     | 个 | 男孩 | he  | -
girl    | girls    | 个 | 女孩 | she | -
man     | men      | 个 | 男人 | he  | -
woman   | women    | 个 | 女人 | she | -
student | students | 个 | 学生 | he  | job
teacher | teachers | 位 | 老师 | she | job
doctor  | doctors  | 位 | 医生 | he  | job
nurse   | nurses   | 位 | 护士 | she | job
driver  | drivers  | 位 | 司机 | he  | job
writer  | writers  | 位 | 作家 | she | job
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
two      | 两   | few
three    | 三   | few
four     | 四   | few
five     | 五   | few
six      | 六   | few
seven    | 七   | few
eight    | 八   | few
nine     | 九   | few
ten      | 十   | few
eleven   | 十一 | few
twelve   | 十二 | few
twenty   | 二十 | many
thirty   | 三十 | many
fifty    | 五十 | many
"""

# singular | plural | measure word | Chinese | kinds
NOUNS = """
book             | books             | 本 | 书     | read write goods gift
newspaper        | newspapers        | 份 | 报纸   | read goods
letter           | letters           | 封 | 信     | read write send
story            | stories           | 个 | 故事   | read write
song             | songs             | 首 | 歌     | song write
film             | films             | 部 | 电影   | film
apple            | apples            | 个 | 苹果   | food goods
banana           | bananas           | 根 | 香蕉   | food goods
orange           | oranges           | 个 | 橙子   | food goods
egg              | eggs              | 个 | 鸡蛋   | food goods
cake             | cakes             | 个 | 蛋糕   | food goods gift make
bowl of rice     | bowls of rice     | 碗 | 米饭   | food
bowl of noodles  | bowls of noodles  | 碗 | 面条   | food make
slice of bread   | slices of bread   | 片 | 面包   | food goods
cup of tea       | cups of tea       | 杯 | 茶     | drink
cup of coffee    | cups of coffee    | 杯 | 咖啡   | drink
glass of water   | glasses of water  | 杯 | 水     | drink
glass of milk    | glasses of milk   | 杯 | 牛奶   | drink
pen              | pens              | 支 | 笔     | thing goods gift use
key              | keys              | 把 | 钥匙   | thing
umbrella         | umbrellas         | 把 | 雨伞   | thing goods gift
watch            | watches           | 块 | 手表   | thing goods gift
phone            | phones            | 部 | 手机   | thing goods gift use
map              | maps              | 张 | 地图   | thing goods use draw
ticket           | tickets           | 张 | 票     | thing goods
photo            | photos            | 张 | 照片   | thing send
computer         | computers         | 台 | 电脑   | machine goods use
table            | tables            | 张 | 桌子   | furniture goods
chair            | chairs            | 把 | 椅子   | furniture goods
bicycle          | bicycles          | 辆 | 自行车 | vehicle goods
car              | cars              | 辆 | 汽车   | vehicle goods draw
hat              | hats              | 顶 | 帽子   | wear goods gift
coat             | coats             | 件 | 大衣   | wear goods gift
shirt            | shirts            | 件 | 衬衫   | wear goods gift
pair of shoes    | pairs of shoes    | 双 | 鞋子   | wear goods
cat              | cats              | 只 | 猫     | animal pet draw
dog              | dogs              | 只 | 狗     | animal pet draw
bird             | birds             | 只 | 鸟     | animal pet draw
rabbit           | rabbits           | 只 | 兔子   | animal pet draw
horse            | horses            | 匹 | 马     | animal farm draw
cow              | cows              | 头 | 牛     | animal farm draw
sheep            | sheep             | 只 | 羊     | animal farm draw
flower           | flowers           | 朵 | 花     | flower goods gift draw
tree             | trees             | 棵 | 树     | plant draw
"""

# base | third person | past | -ing | Chinese | its past | can | objects | places | tenses
VERBS = """
buy       | buys       | bought     | buying       | 买        | 买 了        | 能 | goods pet farm       | shop city      | past habit now future
sell      | sells      | sold       | selling      | 卖        | 卖 了        | 能 | goods farm           | shop city      | past habit now future
read      | reads      | read       | reading      | 读        | 读 了        | 能 | read                 | home study out | past habit now future
write     | writes     | wrote      | writing      | 写        | 写 了        | 会 | write                | home study     | past habit now future
eat       | eats       | ate        | eating       | 吃        | 吃 了        | 能 | food                 | home out study | past habit now future
drink     | drinks     | drank      | drinking     | 喝        | 喝 了        | 能 | drink                | home out work  | past habit now future
make      | makes      | made       | making       | 做        | 做 了        | 会 | make                 | home           | past habit now future
draw      | draws      | drew       | drawing      | 画        | 画 了        | 会 | draw                 | home study out | past habit now future
wash      | washes     | washed     | washing      | 洗        | 洗 了        | 能 | wear vehicle         | out            | past habit now future
use       | uses       | used       | using        | 用        | 用 了        | 会 | use                  | home study work| past habit now future
feed      | feeds      | fed        | feeding      | 喂        | 喂 了        | 能 | pet farm             | home           | past habit now future
see       | sees       | saw        | -            | 看见      | 看见 了      | 能 | animal vehicle flower| out city travel| past future
find      | finds      | found      | -            | 找到      | 找到 了      | 能 | thing wear pet       | out home travel| past future
watch     | watches    | watched    | watching     | 看        | 看 了        | 能 | film                 | home city      | past habit now future
give {}   | gives {}   | gave {}    | -            | 给 {}     | 给 了 {}     | 能 | gift                 | study travel   | past future
send {}   | sends {}   | sent {}    | sending {}   | 给 {} 寄  | 给 {} 寄 了  | 能 | send gift            | -              | past habit now future
show {}   | shows {}   | showed {}  | -            | 给 {} 看  | 给 {} 看 了  | 能 | thing animal read    | home study     | past future
help {}   | helps {}   | helped {}  | helping {}   | 帮助 {}   | 帮助 了 {}   | 能 | -                    | home study work| past habit now future
visit {}  | visits {}  | visited {} | visiting {}  | 看望 {}   | 看望 了 {}   | 能 | -                    | city           | past habit now future
meet {}   | meets {}   | met {}     | -            | 见 {}     | 见 了 {}     | 能 | -                    | city travel out| past habit future
invite {} | invites {} | invited {} | inviting {}  | 邀请 {}   | 邀请 了 {}   | 能 | -                    | -              | past future
call {}   | calls {}   | called {}  | calling {}   | 给 {} 打电话| 给 {} 打 了 电话 | 能 | -                    | home work      | past habit now future
wait for {} | waits for {} | waited for {} | waiting for {} | 等 {} | 等 了 {}  | 能 | -                    | home travel out| past now future
learn     | learns     | learned    | learning     | 学习      | 学习 了      | 能 | -                    | home study     | past habit now future
learn English | learns English | learned English | learning English | 学习 英语 | 学习 了 英语 | 能 | - | study city | past habit now future
learn Chinese | learns Chinese | learned Chinese | learning Chinese | 学习 中文 | 学习 了 中文 | 能 | - | study city | past habit now future
speak English | speaks English | spoke English | speaking English | 说 英语 | 说 了 英语 | 会 | - | home study work | habit now future
speak Chinese | speaks Chinese | spoke Chinese | speaking Chinese | 说 中文 | 说 了 中文 | 会 | - | home study work | habit now future
teach {} English | teaches {} English | taught {} English | teaching {} English | 教 {} 英语 | 教 了 {} 英语 | 能 | - | study home | past habit now future
teach {} history | teaches {} history | taught {} history | teaching {} history | 教 {} 历史 | 教 了 {} 历史 | 能 | - | study home | past habit now future
swim      | swims      | swam       | swimming     | 游泳      | 游 了 泳     | 会 | -                    | city           | past habit now future
run       | runs       | ran        | running      | 跑步      | 跑 了 步     | 能 | -                    | out study      | past habit now future
dance     | dances     | danced     | dancing      | 跳舞      | 跳 了 舞     | 会 | -                    | home out study | past habit now future
sing      | sings      | sang       | singing      | 唱 歌     | 唱 了 歌     | 会 | -                    | home out study | past habit now future
sing      | sings      | sang       | singing      | 唱        | 唱 了        | 会 | song                 | home out study | past habit now future
cook      | cooks      | cooked     | cooking      | 做饭      | 做 了 饭     | 会 | -                    | home           | past habit now future
work      | works      | worked     | working      | 工作      | 工作 了      | 能 | -                    | work city home | past habit now future
rest      | rests      | rested     | resting      | 休息      | 休息 了      | 能 | -                    | home out work  | past habit now future
sleep     | sleeps     | slept      | sleeping     | 睡觉      | 睡 了 觉     | 能 | -                    | home travel    | past habit now future
play football | plays football | played football | playing football | 踢 足球 | 踢 了 足球 | 会 | - | out study | past habit now future
play basketball | plays basketball | played basketball | playing basketball | 打 篮球 | 打 了 篮球 | 会 | - | out study | past habit now future
play the piano | plays the piano | played the piano | playing the piano | 弹 钢琴 | 弹 了 钢琴 | 会 | - | home study | past habit now future
watch television | watches television | watched television | watching television | 看 电视 | 看 了 电视 | 能 | - | home | past habit now future
listen to music | listens to music | listened to music | listening to music | 听 音乐 | 听 了 音乐 | 能 | - | home out work | past habit now future
"""

PLACES = """
at home          | 家里     | home
in the kitchen   | 厨房 里  | home
in the garden    | 花园 里  | home out
at school        | 学校     | study
in the library   | 图书馆   | study
in the classroom | 教室 里  | study
in the park      | 公园 里  | out
by the river     | 河边     | out
in the shop      | 商店 里  | shop
at the market    | 市场     | shop
in the office    | 办公室   | work
at the hospital  | 医院     | work
at the station   | 车站     | travel
at the airport   | 机场     | travel
in Beijing       | 北京     | city
in Shanghai      | 上海     | city
in London        | 伦敦     | city
"""

# where one goes: English after "go" | Chinese after 去
DESTINATIONS = """
to school      | 学校   | -
to the park    | 公园   | -
to the library | 图书馆 | -
to the market  | 市场   | -
to the station | 车站   | -
to the airport | 机场   | -
to the hospital| 医院   | -
to the shop    | 商店   | -
to Beijing     | 北京   | city
to Shanghai    | 上海   | city
to London      | 伦敦   | city
"""

TIMES = """
yesterday         | 昨天     | past
yesterday morning | 昨天 早上 | past
yesterday evening | 昨天 晚上 | past
last night        | 昨夜     | past
last week         | 上周     | past
last month        | 上个月   | past
last year         | 去年     | past
last Monday       | 上周一   | past
last Friday       | 上周五   | past
last Sunday       | 上周日   | past
tomorrow          | 明天     | future
tomorrow morning  | 明天 早上 | future
tomorrow evening  | 明天 晚上 | future
next week         | 下周     | future
next month        | 下个月   | future
next year         | 明年     | future
next Monday       | 下周一   | future
next Friday       | 下周五   | future
next Sunday       | 下周日   | future
every day         | 每天     | habit
every morning     | 每天 早上 | habit
every evening     | 每天 晚上 | habit
every week        | 每周     | habit
every Monday      | 每周一   | habit
every Friday      | 每周五   | habit
every Sunday      | 每周日   | habit
"""

# "two days ago" | Chinese with the measure word
SPANS = """
days   | 天     | -
weeks  | 个 星期 | -
months | 个 月  | -
years  | 年     | -
"""

FREQUENCIES = """
often     | 经常   | -
always    | 总是   | -
sometimes | 有时候 | -
usually   | 通常   | -
never     | 从不   | -
"""

# English | comparative | Chinese | in front of a noun | kinds
ADJECTIVES = """
tired       | -                | 累   | -      | state
busy        | busier           | 忙   | -      | state
happy       | happier          | 高兴 | -      | state
sad         | -                | 难过 | -      | state
hungry      | -                | 饿   | -      | state
thirsty     | -                | 渴   | -      | state
angry       | -                | 生气 | -      | state
sleepy      | -                | 困   | -      | state
nervous     | -                | 紧张 | -      | state
tall        | taller           | 高   | -      | trait
short       | shorter          | 矮   | -      | trait
young       | younger          | 年轻 | -      | trait
clever      | cleverer         | 聪明 | -      | trait
kind        | kinder           | 善良 | -      | trait
strong      | stronger         | 强壮 | -      | trait
famous      | more famous      | 有名 | -      | trait
careful     | more careful     | 细心 | -      | trait
big         | bigger           | 大   | 大     | animal vehicle furniture food plant
small       | smaller          | 小   | 小     | animal vehicle furniture food plant
new         | newer            | 新   | 新     | vehicle furniture thing wear machine
old         | older            | 旧   | 旧     | vehicle furniture thing wear machine
expensive   | more expensive   | 贵   | 昂贵 的 | vehicle furniture wear machine
cheap       | cheaper          | 便宜 | 便宜 的 | vehicle furniture wear machine food
beautiful   | more beautiful   | 漂亮 | 漂亮 的 | flower wear pet
interesting | more interesting | 有趣 | 有趣 的 | read film
difficult   | more difficult   | 难   | 难懂 的 | read
long        | longer           | 长   | 长     | write film
fresh       | fresher          | 新鲜 | 新鲜 的 | food
hot         | -                | 烫   | 热     | drink
red         | -                | -    | 红色 的 | wear vehicle flower furniture
white       | -                | -    | 白色 的 | wear vehicle flower animal
black       | -                | -    | 黑色 的 | wear vehicle animal furniture
blue        | -                | -    | 蓝色 的 | wear vehicle thing
"""

WEATHER = """
cold   | 冷   | -
warm   | 暖和 | -
hot    | 热   | -
windy  | 风 大 | -
"""

# a fixed place in a room: English | Chinese | what may be said of it
SPOTS = """
table  | 桌子 | on under
chair  | 椅子 | on under behind
bed    | 床   | on under
box    | 箱子 | in on behind
bag    | 包   | in behind
door   | 门   | behind front
house  | 房子 | behind front
tree   | 树   | under behind
"""

RELATIONS = """
on         | 上   | on
under      | 下面 | under
in         | 里   | in
behind     | 后面 | behind
in front of| 前面 | front
"""

# --- who is *it*? -------------------------------------------------------------------------------

# English | measure word | Chinese | group | the reasons that fit this thing and not what acts on it
THINGS = """
animal   | 只 | 动物   | animal  | -
dog      | 只 | 狗     | animal  | -
cat      | 只 | 猫     | animal  | -
rabbit   | 只 | 兔子   | animal  | -
fox      | 只 | 狐狸   | animal  | -
monkey   | 只 | 猴子   | animal  | -
bear     | 只 | 熊     | animal  | -
horse    | 匹 | 马     | animal  | -
cow      | 头 | 牛     | animal  | -
elephant | 头 | 大象   | animal  | -
street   | 条 | 马路   | way     | wide busy dangerous noisy
road     | 条 | 公路   | way     | wide busy dangerous slippery
river    | 条 | 河     | way     | wide deep dangerous dirty
bridge   | 座 | 桥     | way     | narrow long dangerous slippery
wall     | 堵 | 墙     | barrier | high wide thick
fence    | 道 | 篱笆   | barrier | high wide
stream   | 条 | 小溪   | barrier | wide deep
tree     | 棵 | 树     | height  | high slippery thin
mountain | 座 | 山     | height  | high steep dangerous
ladder   | 架 | 梯子   | height  | high steep slippery
fish     | 条 | 鱼     | food    | salty bitter cold dirty
cake     | 个 | 蛋糕   | food    | sweet hard salty
bread    | 片 | 面包   | food    | hard sour salty
meat     | 块 | 肉     | food    | salty hard cold
fish     | 条 | 鱼     | treat   | fresh delicious
cake     | 个 | 蛋糕   | treat   | sweet soft delicious
bread    | 片 | 面包   | treat   | fresh soft delicious
meat     | 块 | 肉     | treat   | fresh soft delicious
cave     | 个 | 山洞   | shelter | dark noisy dirty wet
house    | 座 | 房子   | shelter | dark noisy dirty
room     | 个 | 房间   | shelter | dark noisy chilly
ball     | 个 | 球     | object  | -
table    | 张 | 桌子   | object  | -
chair    | 把 | 椅子   | object  | -
picture  | 幅 | 画     | object  | -
computer | 台 | 电脑   | object  | -
box      | 个 | 箱子   | holder  | small narrow filled
bag      | 个 | 包     | holder  | small narrow filled
car      | 辆 | 汽车   | holder  | small narrow filled
cupboard | 个 | 柜子   | holder  | small narrow filled
truck    | 辆 | 卡车   | vehicle | -
bus      | 辆 | 公交车 | vehicle | -
car      | 辆 | 汽车   | vehicle | -
bridge   | 座 | 桥     | span    | narrow slippery shaky
tunnel   | 条 | 隧道   | track   | narrow low dark
gate     | 道 | 大门   | track   | narrow low
lane     | 条 | 小巷   | track   | narrow dark
"""

# first | second | modes | English | Chinese | the reasons that fit the first and not the second
SCENES = """
animal  | way     | didn't couldn't can't won't | cross the {b}       | 过 {b}    | tired hungry lazy sleepy frightened nervous weak thirsty
animal  | barrier | didn't couldn't can't won't | jump over the {b}   | 跳过 {B}  | tired hungry lazy sleepy frightened weak fat slow
animal  | height  | didn't couldn't can't won't | climb the {b}       | 爬上 {B}  | tired hungry lazy sleepy frightened weak fat nervous
animal  | food    | didn't won't                | eat the {b}         | 吃 {B}    | tired sleepy frightened nervous full thirsty
animal  | treat   | did                         | ate the {b}         | 吃 了 {B} | hungry greedy
animal  | shelter | didn't won't                | go into the {b}     | 走进 {B}  | tired lazy frightened nervous shy hungry
object  | holder  | couldn't can't              | go into the {b}     | 放进 {B}  | big long wide heavy
vehicle | span    | didn't couldn't can't       | cross the {b}       | 过 {b}    | heavy wide slow
vehicle | track   | didn't couldn't can't       | go through the {b}  | 通过 {B}  | high wide
"""

# how an event fails, or does not: name | English | Chinese | the verb of its reason
MODES = """
did      | -               | -    | was
didn't   | didn't          | 没有 | was
couldn't | couldn't        | 没 能 | was
can't    | can't           | 不 能 | is
won't    | doesn't want to | 不 想 | is
"""

# name of the reason | English | Chinese
REASONS = """
tired      | tired      | 累
hungry     | hungry     | 饿
lazy       | lazy       | 懒
sleepy     | sleepy     | 困
frightened | frightened | 害怕
nervous    | nervous    | 紧张
weak       | weak       | 虚弱
thirsty    | thirsty    | 渴
fat        | fat        | 胖
slow       | slow       | 慢
shy        | shy        | 害羞
full       | full       | 饱
filled     | full       | 满
greedy     | greedy     | 贪吃
wide       | wide       | 宽
busy       | busy       | 繁忙
dangerous  | dangerous  | 危险
noisy      | noisy      | 吵
slippery   | slippery   | 滑
shaky      | shaky      | 不 稳
deep       | deep       | 深
dirty      | dirty      | 脏
narrow     | narrow     | 窄
long       | long       | 长
high       | high       | 高
thick      | thick      | 厚
thin       | thin       | 细
steep      | steep      | 陡
salty      | salty      | 咸
bitter     | bitter     | 苦
cold       | cold       | 凉
chilly     | cold       | 冷
sweet      | sweet      | 甜
hard       | hard       | 硬
sour       | sour       | 酸
fresh      | fresh      | 新鲜
delicious  | delicious  | 好吃
soft       | soft       | 软
dark       | dark       | 黑
wet        | wet        | 潮湿
small      | small      | 小
big        | big        | 大
heavy      | heavy      | 重
low        | low        | 低
"""
