CREATE TABLE patients AS
SELECT i::INTEGER AS patient_id, (i * 37 % 95)::INTEGER AS age, CASE WHEN i % 2 = 0 THEN 'F' ELSE 'M' END AS sex,
       ['ICU', 'ER', 'Maternity'][1 + i % 3] AS ward, ('1' || lpad((i % 7)::VARCHAR, 4, '0')) AS zip,
       (i * 7919 % 100000)::DOUBLE / 2 AS income, 'secret-' || i AS ssn,
       (DATE '1950-01-01' + (i * 101 % 20000)::INTEGER) AS born, (i % 5 <> 0) AS active,
       CASE WHEN i % 11 = 0 THEN NULL ELSE (i % 13)::BIGINT END AS score
FROM range(1, 201) t(i);
CREATE TABLE visits AS
SELECT i::BIGINT AS visit_id, (1 + i * 17 % 190)::INTEGER AS patient_id, (DATE '2025-01-01' + (i % 365)::INTEGER) AS day,
       (i * 131 % 90000 / 100.0)::DECIMAL(10,2) AS cost, (i % 9)::INTEGER AS days, ['ICU', 'ER', 'Maternity'][1 + i % 3] AS ward,
       CASE WHEN i % 10 = 0 THEN NULL ELSE 'code ' || (i % 4) END AS note,
       (i * 1e15)::BIGINT AS huge, TIMESTAMP '2025-01-01 08:00:00' + to_minutes((i * 7)::INTEGER) AS arrived
FROM range(1, 801) t(i);
CREATE TABLE tests AS
SELECT i::INTEGER AS test_id, (1 + i % 800)::BIGINT AS visit_id, ['xray', 'blood', 'mri', 'ecg'][1 + i % 4] AS name,
       CASE WHEN i % 50 = 0 THEN 'NaN'::DOUBLE WHEN i % 77 = 0 THEN 'inf'::DOUBLE ELSE (i % 41 - 20) / 4.0 END AS result,
       'x' || (i % 6) AS code
FROM range(1, 1501) t(i);
CREATE TABLE staff AS
SELECT i::INTEGER AS staff_id, (30000 + i * 977 % 40000)::INTEGER AS salary, ['ICU', 'ER', 'Maternity'][1 + i % 3] AS ward
FROM range(1, 51) t(i);
CREATE TABLE survey AS
SELECT (i % 11)::INTEGER AS score, ['yes', 'no', 'unsure'][1 + i % 3] AS answer, ('1' || lpad((i % 7)::VARCHAR, 4, '0')) AS zip,
       (i % 90)::INTEGER AS age
FROM range(1, 501) t(i);
CREATE TABLE wards AS SELECT * FROM (VALUES ('ICU', 3, 12), ('ER', 0, 30), ('Maternity', 2, 20), ('Closed', 9, 0)) t(ward, floor, beds);
CREATE TABLE zips AS
SELECT ('1' || lpad(i::VARCHAR, 4, '0')) AS zip, CASE WHEN i < 4 THEN 'north' ELSE 'south' END AS region FROM range(0, 8) t(i);
