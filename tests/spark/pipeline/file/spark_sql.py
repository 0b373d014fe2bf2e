"""Expressions and queries that Spark parses; each is a line of what users write."""

from __future__ import annotations

EXPRESSIONS = r"""
delay is not null
delay * 60 as seconds
origin.code as origin
cast(dep_delay as int) as delay
timestamp_millis(ts) as at
delay between -120 and 3000
_op = 'd'
concat('acme_', _kafka.topic)
murmur2(concat(customer, '/')) % 12
exists(_kafka.headers, header -> header.key = 'x')
aggregate(xs, 0, (acc, x) -> acc + x, acc -> acc * 2)
transform(xs, (x, i) -> x + i)
map_filter(m, (k, v) -> k > v)
a.b.c[0].d['x']
`odd name`.`b``c`
x is distinct from y
x is not distinct from y
a <=> b
a == b
a != b
a <> b
not a
!a
~a & b | c ^ d
a div b
a % b
a || b
-a
+a
1L + 2S + 3Y
1.5BD
1e3
1.5D
1F
.5
x'1F'
X '1F'
date '2020-01-01'
timestamp '2020-01-01 00:00:00'
timestamp_ntz '2020-01-01 00:00:00'
timestamp_ltz '2020-01-01 00:00:00'
interval 3 days
interval '3' day
interval 3 days 2 hours
interval '1-2' year to month
interval '1 02:03:04' day to second
INTERVAL -'1' DAY
ts + interval 1 hour
case when a then 1 else 2 end
case a when 1 then 'x' when 2 then 'y' end as n
if(a, b, c)
a in (1, 2, 3)
a not in (1, 2)
(a, b) in ((1, 2), (3, 4))
a like 'x%'
a not like 'x%'
a like 'x!%' escape '!'
a like any ('x', 'y')
a like all ('x', 'y')
a not like some ('x', 'y')
a ilike 'x'
a rlike 'x'
a regexp 'x'
a not rlike r'\d+'
r'\d+'
R"x\y"
'it''s'
'a' 'b'
"double"
'a\'b'
a::int
a::decimal(10,2)
try_cast(a as decimal(10, 2))
cast(a as struct<x: int, y: array<string>>)
cast(a as struct<x int>)
cast(a as map<string, int>)
cast(a as array<struct<b: string comment 'x'>>)
cast(a as timestamp_ntz)
cast(a as interval day to second)
cast(a as interval year)
cast(a as char(3))
cast(a as void)
cast(a as variant)
cast(a as tinyint)
cast(a as string collate UTF8_LCASE)
a collate UTF8_LCASE
extract(year from ts)
extract(dow from ts)
date_part('year', ts)
trim(both 'x' from a)
trim(leading from a)
trim('x' from a)
substring(a from 2 for 3)
substr(a, 2)
overlay(a placing 'x' from 1 for 2)
position('x' in a)
position('x', a)
struct(a, b as c)
struct(*)
struct(* except (_kafka)) as line
named_struct('a', 1)
array(1, 2)
map('a', 1)
a.*
*
* except (a)
count(*)
count(distinct a, b)
count(*) filter (where a > 1)
sum(distinct a)
first(a) ignore nulls
first(a, true)
first_value(a) ignore nulls over (partition by b order by c)
any_value(a)
row_number() over (partition by a order by b desc nulls last)
sum(a) over (order by b rows between unbounded preceding and current row)
sum(a) over (order by b range between interval 1 day preceding and current row)
lag(a, 1) over w
percentile_cont(0.5) within group (order by a)
percentile_cont(0.5) within group (order by a desc) as p
mode() within group (order by a)
listagg(a, ',') within group (order by a)
collect_list(a)
approx_percentile(a, array(0.5, 0.9), 100)
from_json(a, 'x int, y string')
from_json(j, 'STRUCT<a: INT>', map('mode', 'FAILFAST'))
to_json(struct(*))
get_json_object(a, '$.x')
from_csv(a, 'x int')
schema_of_json('{}')
date_format(a, "yyyy-MM-dd'T'HH:mm")
to_timestamp(a, 'yyyy')
current_date
current_timestamp
current_timestamp()
current_user
session_user
now()
unix_timestamp()
window(ts, '10 minutes')
window.start
session_window(ts, '5 minutes')
date_add(a, 1)
date_add(day, 1, a)
dateadd(day, 1, a)
datediff(day, a, b)
timestampadd(MONTH, 1, a)
timestampdiff(MONTH, a, b)
date_diff(a, b)
hash(*)
uuid()
input_file_name()
java_method('java.util.UUID', 'randomUUID')
reflect('java.util.UUID', 'randomUUID')
inline(a)
explode(a)
explode(a) as (k, v)
posexplode(a) as (p, c)
stack(2, 1, 2, 3)
json_tuple(a, 'x', 'y') as (x, y)
a as `odd`
a `odd`
a b
a as and
a.timestamp
a.`from`
a.date > date
a is true
a is not false
a is unknown
a is not unknown
1 in (select k from t)
exists (select 1 from t where t.a = this.a)
(select max(a) from t)
:param
?
identifier('a')
func(a => 1, b => 2)
sequence(1, 10, 2)
a[1]
array(1,2)[0]
map('a',1).a
(a).b
(a + b) * c
f(a).b
try_divide(a, b)
try_element_at(a, 1)
zip_with(a, b, (x, y) -> x + y)
a /* c */ + b -- x
ns.func(a)
spark_catalog.default.f(a)
double(a)
int(a)
string(a)
boolean(a)
bigint(a)
decimal(a)
timestamp(a)
date(a)
float(a)
binary(a)
tinyint(a)
left(a, 2)
right(a, 2)
replace(a, 'b')
insert(a, 1, 2, 'x')
char(65)
mod(a, b)
log(2, a)
pow(a, b)
nvl2(a, b, c)
decode(a, 1, 'x', 2, 'y')
decode(a, 'utf-8')
encode(a, 'utf-8')
bit_and(a)
a << 2
a >> 2
a >>> 2
array_sort(a, (l, r) -> case when l < r then -1 else 1 end)
element_at(a, -1)
split(a, ',')[0]
a between 1 and 2 and b
a = 1 and not b = 2 or c
raise_error('x')
assert_true(a)
typeof(a)
try_to_number(a, '99')
equal_null(a, b)
ifnull(a, b)
nullif(a, b)
st_x(a)
variant_get(a, '$.x', 'int')
is_variant_null(a)
collation(a)
'a' collate unicode
make_interval(0, 0, 0, 1)
grouping(a)
grouping_id(a, b)
cume_dist() over (order by a)
nth_value(a, 2) respect nulls over (order by b)
any(a)
some(a)
every(a)
max_by(a, b)
""".strip().splitlines()

QUERIES = r"""
select try_to_binary('a!', 'base64')
select try_to_binary('abc', 'invalidFormat')
select * from this
select *, delay > 15 as late from this
select * except (a), b as a from this
select a, count(*) as n from this group by a having count(*) > 1 order by n desc limit 3
select * from this t join airports a on t.o = a.code
select * from this left join airports using (code)
select * from this left semi join airports on a = b
select * from this left anti join t on a = b
select * from this natural join t
select * from this cross join t
select * from this, t where a = b
select /*+ broadcast(t) */ * from this join t on a = b
with x as (select * from this) select * from x
with x as (select 1), y as (select * from x) select * from y
from this select a where b
from this
table this
values (1, 2)
select explode(a) as b from this
select * from this lateral view explode(a) t as b
select * from this lateral view outer explode(a) t as b, c
select * from this, lateral (select 1)
select * from this, lateral explode(a) as t(b)
select * from this pivot (sum(a) for b in ('x', 'y'))
select * from this unpivot (v for n in (a, b))
select * from this tablesample (10 percent)
select * from this tablesample (5 rows)
select * from this tablesample (bucket 1 out of 10)
select transform(a, b) using 'cat' as (x, y) from this
select * from this union all select * from t
select * from this union select * from t
select * from this except select * from t
select * from this minus select * from t
select * from this intersect all select * from t
select distinct a from this
select all a from this
select a from this group by all
select a, b from this group by grouping sets ((a), (b))
select a, b from this group by a, b with rollup
select a from this group by rollup(a)
select a from this group by cube(a, b)
select a from this distribute by a sort by b
select a from this cluster by a
select a from this order by a nulls first limit all
select a from this limit 10 offset 5
select a, sum(b) over w from this window w as (partition by a order by c)
select * from range(10)
select * from parquet.`/tmp/x`
select * from spark_catalog.default.t
select * from t version as of 3
select * from t timestamp as of '2020-01-01'
select * from this as x(a, b)
select * from this x
select * from (select * from this) x
select * from (select * from this)
select * from (values (1), (2)) as t(a)
select a.*, b.c from this a join t b on a.id = b.id and b.x > 1
select struct(*) from this
select a from this where exists (select 1 from t where t.a = this.a)
select a from this where a in (select b from t)
select (select max(b) from t) from this
select * from this |> where a > 1
from this |> select a |> limit 3
select a as `x y`, b from this
select * from identifier('this')
select * from this where a = :x
select 1 as a, 2 b
select * from this anti join t on a = b
select * from this full outer join t on a = b
select * from this right join t on a = b
select * from this asof join t
select * from this join t
select * from stream(this)
select a from this where a rlike '^x' group by a
select max(struct(a, b)).b from this
select inline(a) from this
with recursive x as (select 1 as n union all select n + 1 from x where n < 3) select * from x
select a from this limit 3 + 4
""".strip().splitlines()
