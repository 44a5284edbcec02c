// The tables, views and functions of pg_catalog and information_schema that clients read, in the
// catalog database's dialect. Written for PostgreSQL 15's clients; columns they do not read are
// left out or constant.
#pragma once

namespace discreet::server {

/// Types first, tables without rows, functions; {user} stands for the user's name as a literal.
extern const char* const kCatalogTypes;
extern const char* const kCatalogTables;
extern const char* const kCatalogFunctions;
/// Views over the tables above; run once the tables have their rows.
extern const char* const kCatalogViews;

}  // namespace discreet::server
