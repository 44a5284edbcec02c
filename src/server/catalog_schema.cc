#include "server/catalog_schema_internal.h"

namespace discreet::server {

const char* const kCatalogTypes = R"sql(
CREATE SCHEMA pgc; CREATE SCHEMA info; CREATE SCHEMA discreet;
CREATE TYPE name AS VARCHAR; CREATE TYPE regproc AS VARCHAR;
CREATE TYPE regtype AS VARCHAR; CREATE TYPE regclass AS VARCHAR; CREATE TYPE regnamespace AS VARCHAR;
CREATE TYPE int2vector AS VARCHAR; CREATE TYPE xid AS BIGINT;
)sql";

const char* const kCatalogTables = R"sql(
CREATE TABLE pgc.pg_namespace (oid BIGINT, nspname VARCHAR, nspowner BIGINT, nspacl VARCHAR[]);
INSERT INTO pgc.pg_namespace VALUES (11, 'pg_catalog', 10, NULL), (2200, 'public', 10, NULL),
  (13000, 'information_schema', 10, NULL), (16000, 'discreet', 10, NULL), (16001, 'local', 10, NULL);
CREATE TABLE pgc.pg_class (oid BIGINT, relname VARCHAR, relnamespace BIGINT, relnatts INTEGER,
  relkind VARCHAR DEFAULT 'r', reltype BIGINT DEFAULT 0, reloftype BIGINT DEFAULT 0,
  relowner BIGINT DEFAULT 10, relam BIGINT DEFAULT 2, relfilenode BIGINT DEFAULT 0,
  reltablespace BIGINT DEFAULT 0, relpages INTEGER DEFAULT 0, reltuples DOUBLE DEFAULT -1,
  relallvisible INTEGER DEFAULT 0, reltoastrelid BIGINT DEFAULT 0, relhasindex BOOLEAN DEFAULT false,
  relisshared BOOLEAN DEFAULT false, relpersistence VARCHAR DEFAULT 'p', relchecks INTEGER DEFAULT 0,
  relhasrules BOOLEAN DEFAULT false, relhastriggers BOOLEAN DEFAULT false,
  relhassubclass BOOLEAN DEFAULT false, relrowsecurity BOOLEAN DEFAULT false,
  relforcerowsecurity BOOLEAN DEFAULT false, relispopulated BOOLEAN DEFAULT true,
  relreplident VARCHAR DEFAULT 'd', relispartition BOOLEAN DEFAULT false, relhasoids BOOLEAN DEFAULT false,
  relacl VARCHAR[], reloptions VARCHAR[], relpartbound VARCHAR);
CREATE TABLE pgc.pg_attribute (attrelid BIGINT, attname VARCHAR, atttypid BIGINT, attnum INTEGER,
  attlen INTEGER, attstattarget INTEGER DEFAULT -1, attndims INTEGER DEFAULT 0, atttypmod INTEGER DEFAULT -1,
  attbyval BOOLEAN DEFAULT false, attalign VARCHAR DEFAULT 'i', attstorage VARCHAR DEFAULT 'p',
  attcompression VARCHAR DEFAULT '', attnotnull BOOLEAN DEFAULT false, atthasdef BOOLEAN DEFAULT false,
  atthasmissing BOOLEAN DEFAULT false, attidentity VARCHAR DEFAULT '', attgenerated VARCHAR DEFAULT '',
  attisdropped BOOLEAN DEFAULT false, attislocal BOOLEAN DEFAULT true, attinhcount INTEGER DEFAULT 0,
  attcollation BIGINT DEFAULT 0, attacl VARCHAR[], attoptions VARCHAR[], attfdwoptions VARCHAR[]);
CREATE TABLE pgc.pg_type (oid BIGINT, typname VARCHAR, shown VARCHAR, typlen INTEGER, typcategory VARCHAR,
  typelem BIGINT DEFAULT 0, typarray BIGINT DEFAULT 0, typnamespace BIGINT DEFAULT 11, typowner BIGINT DEFAULT 10,
  typbyval BOOLEAN DEFAULT false, typtype VARCHAR DEFAULT 'b', typispreferred BOOLEAN DEFAULT false,
  typisdefined BOOLEAN DEFAULT true, typdelim VARCHAR DEFAULT ',', typrelid BIGINT DEFAULT 0,
  typsubscript BIGINT DEFAULT 0, typinput VARCHAR DEFAULT '', typoutput VARCHAR DEFAULT '',
  typreceive VARCHAR DEFAULT '', typsend VARCHAR DEFAULT '', typnotnull BOOLEAN DEFAULT false,
  typbasetype BIGINT DEFAULT 0, typtypmod INTEGER DEFAULT -1, typndims INTEGER DEFAULT 0,
  typcollation BIGINT DEFAULT 0, typdefault VARCHAR, typacl VARCHAR[]);
INSERT INTO pgc.pg_type (oid, typname, shown, typlen, typcategory, typelem, typarray) VALUES
  (16, 'bool', 'boolean', 1, 'B', 0, 1000), (18, 'char', '"char"', 1, 'S', 0, 1002),
  (19, 'name', 'name', 64, 'S', 18, 1003), (20, 'int8', 'bigint', 8, 'N', 0, 1016),
  (21, 'int2', 'smallint', 2, 'N', 0, 1005), (23, 'int4', 'integer', 4, 'N', 0, 1007),
  (25, 'text', 'text', -1, 'S', 0, 1009), (26, 'oid', 'oid', 4, 'N', 0, 1028),
  (114, 'json', 'json', -1, 'U', 0, 199), (700, 'float4', 'real', 4, 'N', 0, 1021),
  (701, 'float8', 'double precision', 8, 'N', 0, 1022), (1043, 'varchar', 'character varying', -1, 'S', 0, 1015),
  (1042, 'bpchar', 'character', -1, 'S', 0, 1014), (1082, 'date', 'date', 4, 'D', 0, 1182),
  (1114, 'timestamp', 'timestamp without time zone', 8, 'D', 0, 1115),
  (1184, 'timestamptz', 'timestamp with time zone', 8, 'D', 0, 1185),
  (1186, 'interval', 'interval', 16, 'T', 0, 1187), (1700, 'numeric', 'numeric', -1, 'N', 0, 1231),
  (2205, 'regclass', 'regclass', 4, 'N', 0, 2210), (2206, 'regtype', 'regtype', 4, 'N', 0, 2211),
  (705, 'unknown', 'unknown', -2, 'X', 0, 0), (1009, '_text', 'text[]', -1, 'A', 25, 0),
  (1022, '_float8', 'double precision[]', -1, 'A', 701, 0), (1016, '_int8', 'bigint[]', -1, 'A', 20, 0),
  (1007, '_int4', 'integer[]', -1, 'A', 23, 0), (1015, '_varchar', 'character varying[]', -1, 'A', 1043, 0);
CREATE TABLE pgc.pg_database AS SELECT 16384::BIGINT AS oid, 'discreet' AS datname, 10::BIGINT AS datdba,
  6 AS encoding, 'C' AS datcollate, 'C' AS datctype, false AS datistemplate, true AS datallowconn, -1 AS datconnlimit,
  1663::BIGINT AS dattablespace, 'c' AS datlocprovider, NULL::VARCHAR AS daticulocale, NULL::VARCHAR[] AS datacl;
CREATE TABLE pgc.pg_roles AS SELECT 10::BIGINT AS oid, {user} AS rolname, false AS rolsuper, true AS rolinherit,
  false AS rolcreaterole, false AS rolcreatedb, true AS rolcanlogin, false AS rolreplication, -1 AS rolconnlimit,
  '********' AS rolpassword, NULL::TIMESTAMP AS rolvaliduntil, false AS rolbypassrls, NULL::VARCHAR[] AS rolconfig;
CREATE TABLE pgc.pg_user AS SELECT {user} AS usename, 10::BIGINT AS usesysid, false AS usecreatedb, false AS usesuper,
  false AS userepl, false AS usebypassrls;
CREATE TABLE pgc.pg_am AS SELECT 2::BIGINT AS oid, 'heap' AS amname, 'heap_tableam_handler' AS amhandler, 't' AS amtype;
CREATE TABLE pgc.pg_settings (name VARCHAR, setting VARCHAR, unit VARCHAR, category VARCHAR, short_desc VARCHAR,
  source VARCHAR, min_val VARCHAR, max_val VARCHAR);
INSERT INTO pgc.pg_settings (name, setting) VALUES ('server_version', '15.0'), ('server_version_num', '150000'),
  ('max_index_keys', '32'), ('standard_conforming_strings', 'on');
CREATE TABLE pgc.pg_index (indexrelid BIGINT, indrelid BIGINT, indnatts INTEGER, indnkeyatts INTEGER, indisunique BOOLEAN,
  indisprimary BOOLEAN, indisexclusion BOOLEAN, indimmediate BOOLEAN, indisclustered BOOLEAN, indisvalid BOOLEAN,
  indcheckxmin BOOLEAN, indisready BOOLEAN, indislive BOOLEAN, indisreplident BOOLEAN, indnullsnotdistinct BOOLEAN,
  indkey INTEGER[], indcollation BIGINT[], indclass BIGINT[], indoption INTEGER[], indexprs VARCHAR, indpred VARCHAR);
CREATE TABLE pgc.pg_constraint (oid BIGINT, conname VARCHAR, connamespace BIGINT, contype VARCHAR, condeferrable BOOLEAN,
  condeferred BOOLEAN, convalidated BOOLEAN, conrelid BIGINT, contypid BIGINT, conindid BIGINT, conparentid BIGINT,
  confrelid BIGINT, confupdtype VARCHAR, confdeltype VARCHAR, confmatchtype VARCHAR, conislocal BOOLEAN,
  coninhcount INTEGER, connoinherit BOOLEAN, conkey INTEGER[], confkey INTEGER[], conpfeqop BIGINT[], conppeqop BIGINT[],
  conffeqop BIGINT[], confdelsetcols INTEGER[], conexclop BIGINT[], conbin VARCHAR);
CREATE TABLE pgc.pg_description (objoid BIGINT, classoid BIGINT, objsubid INTEGER, description VARCHAR);
CREATE TABLE pgc.pg_shdescription (objoid BIGINT, classoid BIGINT, description VARCHAR);
CREATE TABLE pgc.pg_attrdef (oid BIGINT, adrelid BIGINT, adnum INTEGER, adbin VARCHAR);
CREATE TABLE pgc.pg_proc (oid BIGINT, proname VARCHAR, pronamespace BIGINT, proowner BIGINT, prolang BIGINT, prokind VARCHAR,
  prosecdef BOOLEAN, proleakproof BOOLEAN, proisstrict BOOLEAN, proretset BOOLEAN, provolatile VARCHAR, proparallel VARCHAR,
  pronargs INTEGER, pronargdefaults INTEGER, prorettype BIGINT, proargtypes BIGINT[], proallargtypes BIGINT[],
  proargmodes VARCHAR[], proargnames VARCHAR[], proargdefaults VARCHAR, prosrc VARCHAR, probin VARCHAR, proacl VARCHAR[],
  provariadic BIGINT, proconfig VARCHAR[]);
CREATE TABLE pgc.pg_inherits (inhrelid BIGINT, inhparent BIGINT, inhseqno INTEGER, inhdetachpending BOOLEAN);
CREATE TABLE pgc.pg_policy (oid BIGINT, polname VARCHAR, polrelid BIGINT, polcmd VARCHAR, polpermissive BOOLEAN,
  polroles BIGINT[], polqual VARCHAR, polwithcheck VARCHAR);
CREATE TABLE pgc.pg_trigger (oid BIGINT, tgrelid BIGINT, tgparentid BIGINT, tgname VARCHAR, tgfoid BIGINT, tgtype INTEGER,
  tgenabled VARCHAR, tgisinternal BOOLEAN, tgconstrrelid BIGINT, tgconstraint BIGINT, tgdeferrable BOOLEAN, tginitdeferred BOOLEAN);
CREATE TABLE pgc.pg_rewrite (oid BIGINT, rulename VARCHAR, ev_class BIGINT, ev_type VARCHAR, ev_enabled VARCHAR, is_instead BOOLEAN);
CREATE TABLE pgc.pg_statistic_ext (oid BIGINT, stxrelid BIGINT, stxname VARCHAR, stxnamespace BIGINT, stxowner BIGINT,
  stxstattarget INTEGER, stxkeys INTEGER[], stxkind VARCHAR[], stxexprs VARCHAR);
CREATE TABLE pgc.pg_publication (oid BIGINT, pubname VARCHAR, pubowner BIGINT, puballtables BOOLEAN, pubinsert BOOLEAN,
  pubupdate BOOLEAN, pubdelete BOOLEAN, pubtruncate BOOLEAN, pubviaroot BOOLEAN);
CREATE TABLE pgc.pg_publication_rel (oid BIGINT, prpubid BIGINT, prrelid BIGINT, prqual VARCHAR, prattrs INTEGER[]);
CREATE TABLE pgc.pg_publication_namespace (oid BIGINT, pnpubid BIGINT, pnnspid BIGINT);
CREATE TABLE pgc.pg_foreign_table (ftrelid BIGINT, ftserver BIGINT, ftoptions VARCHAR[]);
CREATE TABLE pgc.pg_foreign_server (oid BIGINT, srvname VARCHAR, srvowner BIGINT, srvfdw BIGINT, srvtype VARCHAR, srvversion VARCHAR, srvacl VARCHAR[], srvoptions VARCHAR[]);
CREATE TABLE pgc.pg_collation (oid BIGINT, collname VARCHAR, collnamespace BIGINT, collprovider VARCHAR, collcollate VARCHAR, collctype VARCHAR, colliculocale VARCHAR, collisdeterministic BOOLEAN);
CREATE TABLE pgc.pg_enum (oid BIGINT, enumtypid BIGINT, enumsortorder DOUBLE, enumlabel VARCHAR);
CREATE TABLE pgc.pg_range (rngtypid BIGINT, rngsubtype BIGINT, rngmultitypid BIGINT, rngcollation BIGINT, rngsubopc BIGINT, rngcanonical VARCHAR, rngsubdiff VARCHAR);
CREATE TABLE pgc.pg_partitioned_table (partrelid BIGINT, partstrat VARCHAR, partnatts INTEGER, partdefid BIGINT, partattrs INTEGER[]);
CREATE TABLE pgc.pg_extension (oid BIGINT, extname VARCHAR, extowner BIGINT, extnamespace BIGINT, extversion VARCHAR);
CREATE TABLE pgc.pg_language AS SELECT 14::BIGINT AS oid, 'sql' AS lanname, 10::BIGINT AS lanowner, false AS lanispl, true AS lanpltrusted;
CREATE TABLE pgc.pg_sequence (seqrelid BIGINT, seqtypid BIGINT, seqstart BIGINT, seqincrement BIGINT, seqmax BIGINT, seqmin BIGINT, seqcache BIGINT, seqcycle BOOLEAN);
CREATE TABLE pgc.pg_tablespace AS SELECT 1663::BIGINT AS oid, 'pg_default' AS spcname, 10::BIGINT AS spcowner, NULL::VARCHAR[] AS spcacl, NULL::VARCHAR[] AS spcoptions;
CREATE TABLE pgc.pg_depend (classid BIGINT, objid BIGINT, objsubid INTEGER, refclassid BIGINT, refobjid BIGINT, refobjsubid INTEGER, deptype VARCHAR);
CREATE TABLE pgc.pg_operator (oid BIGINT, oprname VARCHAR, oprnamespace BIGINT, oprleft BIGINT, oprright BIGINT, oprresult BIGINT, oprcode VARCHAR);
CREATE TABLE pgc.pg_opclass (oid BIGINT, opcmethod BIGINT, opcname VARCHAR, opcnamespace BIGINT, opcowner BIGINT, opcfamily BIGINT, opcintype BIGINT, opcdefault BOOLEAN, opckeytype BIGINT);
CREATE TABLE pgc.pg_aggregate (aggfnoid BIGINT, aggkind VARCHAR, aggnumdirectargs INTEGER);
CREATE TABLE pgc.pg_cast (oid BIGINT, castsource BIGINT, casttarget BIGINT, castfunc BIGINT, castcontext VARCHAR, castmethod VARCHAR);
CREATE TABLE pgc.pg_event_trigger (oid BIGINT, evtname VARCHAR, evtevent VARCHAR, evtowner BIGINT, evtfoid BIGINT, evtenabled VARCHAR, evttags VARCHAR[]);
CREATE TABLE pgc.pg_auth_members (roleid BIGINT, member BIGINT, grantor BIGINT, admin_option BOOLEAN);
CREATE TABLE pgc.pg_stat_activity (datid BIGINT, datname VARCHAR, pid INTEGER, usename VARCHAR, application_name VARCHAR, state VARCHAR, query VARCHAR);
CREATE TABLE pgc.pg_locks (locktype VARCHAR, pid INTEGER, mode VARCHAR, granted BOOLEAN);
CREATE TABLE discreet.tables (name VARCHAR, public BOOLEAN, unit VARCHAR, link VARCHAR, max_rows_per_unit BIGINT, synthetic BOOLEAN);
CREATE TABLE discreet.columns (table_name VARCHAR, name VARCHAR, type VARCHAR, lower VARCHAR, upper VARCHAR, "values" VARCHAR);
CREATE TABLE discreet.budget (account VARCHAR, parent VARCHAR, epsilon_granted DOUBLE, epsilon_spent DOUBLE, epsilon_left DOUBLE,
  delta_granted DOUBLE, delta_spent DOUBLE, delta_left DOUBLE, charges BIGINT);
CREATE TABLE discreet.ledger (sequence BIGINT, "time" TIMESTAMP, kind VARCHAR, account VARCHAR, statement VARCHAR, epsilon DOUBLE,
  delta DOUBLE, hash VARCHAR);
)sql";

// A macro's argument is put into its body as it was written, so what the body reads has names that
// no client writes: pg_table_is_visible(pg_class.oid) must not find a pg_class of the body.
const char* const kCatalogFunctions = R"sql(
CREATE MACRO dsc_version() AS 'PostgreSQL 15.0 (Discreet)';
CREATE MACRO dsc_database() AS 'discreet';
CREATE MACRO dsc_schema() AS 'public';
CREATE MACRO dsc_schemas(implicit) AS CASE WHEN implicit THEN ['pg_catalog', 'public'] ELSE ['public'] END;
CREATE MACRO dsc_setting(n) AS (SELECT max(setting) FROM pgc.pg_settings WHERE name = n), (n, missing) AS (SELECT max(setting) FROM pgc.pg_settings WHERE name = n);
CREATE MACRO set_config(a, b, c) AS b;
CREATE MACRO pg_get_userbyid(a) AS {user};
CREATE VIEW pgc.dsc_relations AS SELECT oid AS dsc_oid, relname AS dsc_name, relnamespace AS dsc_schema FROM pgc.pg_class;
CREATE VIEW pgc.dsc_types AS SELECT oid AS dsc_oid, typname AS dsc_name, shown AS dsc_shown FROM pgc.pg_type;
CREATE MACRO dsc_visible(a) AS coalesce((SELECT max(dsc_schema) = 2200 FROM pgc.dsc_relations WHERE dsc_oid = a), true);
CREATE MACRO dsc_shown(a) AS true;
CREATE MACRO dsc_format_type(t, m) AS (SELECT max(dsc_shown) FROM pgc.dsc_types WHERE dsc_oid = t);
CREATE MACRO pg_encoding_to_char(a) AS 'UTF8';
CREATE MACRO dsc_null1(a) AS NULL::VARCHAR, (a, b) AS NULL::VARCHAR, (a, b, c) AS NULL::VARCHAR;
CREATE MACRO dsc_true1(a) AS true, (a, b) AS true, (a, b, c) AS true;
CREATE MACRO dsc_false(a) AS false;
CREATE MACRO dsc_zero(a) AS 0, (a, b) AS 0;
CREATE MACRO pg_is_in_recovery() AS false;
CREATE MACRO array_upper(a, b) AS len(a);
CREATE MACRO array_lower(a, b) AS 1;
CREATE MACRO pg_backend_pid() AS 1;
CREATE MACRO pg_my_temp_schema() AS 0;
CREATE MACRO txid_current() AS 1;
CREATE MACRO pg_postmaster_start_time() AS TIMESTAMP '2026-01-01';
CREATE MACRO quote_ident(a) AS '"' || replace(a, '"', '""') || '"';
CREATE MACRO dsc_regclass(n) AS (SELECT max(dsc_oid) FROM pgc.dsc_relations
  WHERE dsc_name = replace(split_part(n, '.', -1), '"', '') OR dsc_oid::VARCHAR = n);
CREATE MACRO dsc_regtype(n) AS (SELECT max(dsc_oid) FROM pgc.dsc_types WHERE dsc_name = n OR dsc_shown = n OR dsc_oid::VARCHAR = n);
CREATE MACRO json_build_object(a, b, c, d, e, f, g, h, i, j, k, l, m, n) AS NULL::VARCHAR;
)sql";

const char* const kCatalogViews = R"sql(
CREATE VIEW pgc.pg_tables AS SELECT n.nspname AS schemaname, c.relname AS tablename, {user} AS tableowner,
  NULL::VARCHAR AS tablespace, false AS hasindexes, false AS hasrules, false AS hastriggers, false AS rowsecurity
  FROM pgc.pg_class c JOIN pgc.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r';
CREATE VIEW pgc.pg_views AS SELECT schemaname, tablename AS viewname, tableowner AS viewowner, '' AS definition FROM pgc.pg_tables WHERE false;
CREATE VIEW pgc.pg_matviews AS SELECT schemaname, tablename AS matviewname, tableowner AS matviewowner, '' AS definition FROM pgc.pg_tables WHERE false;
CREATE VIEW pgc.pg_indexes AS SELECT schemaname, tablename, '' AS indexname, '' AS tablespace, '' AS indexdef FROM pgc.pg_tables WHERE false;
CREATE VIEW pgc.pg_authid AS SELECT * FROM pgc.pg_roles;
CREATE VIEW info.schemata AS SELECT 'discreet' AS catalog_name, nspname AS schema_name, {user} AS schema_owner FROM pgc.pg_namespace;
CREATE VIEW info.tables AS SELECT 'discreet' AS table_catalog, schemaname AS table_schema, tablename AS table_name,
  'BASE TABLE' AS table_type, 'NO' AS is_insertable_into, 'NO' AS is_typed FROM pgc.pg_tables;
CREATE VIEW info.views AS SELECT table_catalog, table_schema, table_name, '' AS view_definition FROM info.tables WHERE false;
CREATE VIEW info.columns AS SELECT 'discreet' AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
  a.attname AS column_name, a.attnum AS ordinal_position, NULL::VARCHAR AS column_default, 'YES' AS is_nullable,
  t.shown AS data_type, NULL::INTEGER AS character_maximum_length, NULL::INTEGER AS character_octet_length,
  CASE t.typname WHEN 'int8' THEN 64 WHEN 'int4' THEN 32 WHEN 'float8' THEN 53 END AS numeric_precision,
  CASE WHEN t.typname LIKE 'int%' THEN 0 END AS numeric_scale, NULL::INTEGER AS datetime_precision,
  NULL::VARCHAR AS collation_name, 'discreet' AS udt_catalog, 'pg_catalog' AS udt_schema, t.typname AS udt_name,
  'NO' AS is_identity, 'NEVER' AS is_generated, NULL::VARCHAR AS generation_expression, 'NO' AS is_updatable
  FROM pgc.pg_attribute a JOIN pgc.pg_class c ON c.oid = a.attrelid JOIN pgc.pg_namespace n ON n.oid = c.relnamespace
  JOIN pgc.pg_type t ON t.oid = a.atttypid;
CREATE VIEW info.table_constraints AS SELECT table_catalog AS constraint_catalog, table_schema AS constraint_schema,
  '' AS constraint_name, table_catalog, table_schema, table_name, '' AS constraint_type FROM info.tables WHERE false;
CREATE VIEW info.key_column_usage AS SELECT table_catalog AS constraint_catalog, table_schema AS constraint_schema,
  '' AS constraint_name, table_catalog, table_schema, table_name, '' AS column_name, 0 AS ordinal_position,
  0 AS position_in_unique_constraint FROM info.tables WHERE false;
CREATE VIEW info.referential_constraints AS SELECT '' AS constraint_catalog, '' AS constraint_schema, '' AS constraint_name,
  '' AS unique_constraint_catalog, '' AS unique_constraint_schema, '' AS unique_constraint_name, '' AS match_option,
  '' AS update_rule, '' AS delete_rule WHERE false;
CREATE VIEW info.constraint_column_usage AS SELECT table_catalog, table_schema, table_name, '' AS column_name, '' AS constraint_name FROM info.tables WHERE false;
CREATE VIEW info.routines AS SELECT '' AS specific_name, '' AS routine_schema, '' AS routine_name, '' AS routine_type, '' AS data_type WHERE false;
CREATE VIEW info.sequences AS SELECT '' AS sequence_schema, '' AS sequence_name WHERE false;
)sql";

}  // namespace discreet::server
