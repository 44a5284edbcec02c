// Who a table protects: what its `unit` line says, and where its links lead.
#pragma once

#include <string>
#include <vector>

#include "catalog/policy.h"
#include "catalog/problems_internal.h"

namespace discreet::catalog {

/// What one table says about its unit, before links are followed.
struct UnitClaim {
  Unit::Kind kind = Unit::Kind::None;
  std::string column;  ///< for Column
  Link link;           ///< for Linked
  std::string people;  ///< the owner's name for them, if any
  int line = 0;
};

/// "row", "column" or "column -> table.column"; false and a problem otherwise.
bool read_unit(const std::string& text, const std::string& table, int line, UnitClaim& claim,
               Problems& problems);

/// Fills in `unit` of every table. `claims` run parallel to `tables`. Problems: links to unknown,
/// public or row-unit tables, circles, and one unit name in two tables that are not linked.
void resolve_units(std::vector<Table>& tables, const std::vector<UnitClaim>& claims,
                   Problems& problems);

}  // namespace discreet::catalog
