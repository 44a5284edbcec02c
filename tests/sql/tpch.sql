CREATE TABLE region AS SELECT i::INTEGER AS r_regionkey, ['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST'][i + 1] AS r_name FROM range(0, 5) t(i);
CREATE TABLE nation AS
SELECT i::INTEGER AS n_nationkey, ['ALGERIA', 'BRAZIL', 'CHINA', 'FRANCE', 'EGYPT', 'KENYA', 'CANADA', 'INDIA', 'GERMANY', 'IRAN', 'ETHIOPIA', 'PERU', 'JAPAN', 'RUSSIA', 'SAUDI ARABIA'][i + 1] AS n_name,
       (i % 5)::INTEGER AS n_regionkey FROM range(0, 15) t(i);
CREATE TABLE supplier AS
SELECT i::INTEGER AS s_suppkey, 'Supplier#' || i AS s_name, 'street ' || i AS s_address, (i % 15)::INTEGER AS s_nationkey, '11-' || i AS s_phone,
       (i * 37 % 1000)::DECIMAL(15,2) AS s_acctbal, CASE WHEN i % 9 = 0 THEN 'Customer Complaints' ELSE 'fine' END AS s_comment FROM range(1, 31) t(i);
CREATE TABLE part AS
SELECT i::INTEGER AS p_partkey, ['green tin', 'forest oak', 'blue pin'][1 + i % 3] AS p_name, 'Manufacturer#' || (1 + i % 5) AS p_mfgr,
       ['Brand#12', 'Brand#23', 'Brand#34', 'Brand#45'][1 + i % 4] AS p_brand, ['PROMO BRASS', 'ECONOMY ANODIZED STEEL', 'MEDIUM POLISHED TIN'][1 + i % 3] AS p_type,
       (1 + i % 15)::INTEGER AS p_size, ['SM BOX', 'MED BOX', 'LG CASE', 'MED BAG'][1 + i % 4] AS p_container, (900 + i)::DECIMAL(15,2) AS p_retailprice FROM range(1, 61) t(i);
CREATE TABLE partsupp AS
SELECT p::INTEGER AS ps_partkey, (1 + (p * 7 + s * 8) % 30)::INTEGER AS ps_suppkey, (p * 31 % 500)::INTEGER AS ps_availqty, (p * 3 % 100)::DECIMAL(15,2) AS ps_supplycost FROM range(1, 61) t(p), range(0, 4) u(s);
CREATE TABLE customer AS
SELECT i::INTEGER AS c_custkey, 'Customer#' || i AS c_name, 'road ' || i AS c_address, (i % 15)::INTEGER AS c_nationkey, (10 + i % 25)::VARCHAR || '-555-' || i AS c_phone,
       (i * 97 % 9000 - 900)::DECIMAL(15,2) AS c_acctbal, ['AUTOMOBILE', 'BUILDING', 'FURNITURE', 'HOUSEHOLD', 'MACHINERY'][1 + i % 5] AS c_mktsegment, 'c' AS c_comment FROM range(1, 121) t(i);
CREATE TABLE orders AS
SELECT i::BIGINT AS o_orderkey, (1 + i * 13 % 90)::INTEGER AS o_custkey, ['O', 'F', 'P'][1 + i % 3] AS o_orderstatus, (i * 7919 % 400000)::DECIMAL(15,2) AS o_totalprice,
       (DATE '1992-01-01' + (i * 11 % 2400)::INTEGER) AS o_orderdate, ['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW'][1 + i % 5] AS o_orderpriority, 'Clerk#' || (i % 20) AS o_clerk,
       0::INTEGER AS o_shippriority, CASE WHEN i % 8 = 0 THEN 'special requests' ELSE 'plain' END AS o_comment FROM range(1, 601) t(i);
CREATE TABLE lineitem AS
SELECT (1 + i % 600)::BIGINT AS l_orderkey, (1 + i * 7 % 60)::INTEGER AS l_partkey, (1 + i * 11 % 30)::INTEGER AS l_suppkey, (1 + i // 600)::INTEGER AS l_linenumber, (1 + i * 17 % 50)::DECIMAL(15,2) AS l_quantity,
       (1000 + i * 337 % 90000)::DECIMAL(15,2) AS l_extendedprice, (i % 11 / 100.0)::DECIMAL(15,2) AS l_discount, (i % 9 / 100.0)::DECIMAL(15,2) AS l_tax, ['A', 'N', 'R'][1 + i % 3] AS l_returnflag, ['F', 'O'][1 + i % 2] AS l_linestatus,
       (DATE '1992-02-01' + (i * 11 % 2400)::INTEGER) AS l_shipdate, (DATE '1992-02-15' + (i * 11 % 2400)::INTEGER) AS l_commitdate, (DATE '1992-02-10' + (i * 11 % 2400 + i % 12)::INTEGER) AS l_receiptdate,
       ['DELIVER IN PERSON', 'COLLECT COD'][1 + i % 2] AS l_shipinstruct, ['AIR', 'FOB', 'MAIL', 'RAIL', 'REG AIR', 'SHIP', 'TRUCK'][1 + i % 7] AS l_shipmode FROM range(0, 2400) t(i);
