DELETE FROM lineitem WHERE l_orderkey IN (SELECT o_orderkey FROM orders WHERE o_custkey = 7);
DELETE FROM orders WHERE o_custkey = 7;
DELETE FROM customer WHERE c_custkey = 7;
