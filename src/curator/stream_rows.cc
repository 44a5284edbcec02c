#include "curator/stream_rows.h"

#include <algorithm>
#include <unordered_map>

#include "random/uniform.h"

namespace discreet {

Result<StreamRows> StreamRows::load(const sql::Release& release, const sql::ValueStream& stream,
                                    Groups& groups, const std::vector<bool>* kept, Engine& engine) {
  DISCREET_TRY(EngineRows result, engine.query(stream.sql));
  const auto columns = result.columns();
  const std::size_t keys = release.keys.size();
  DISCREET_CHECK(columns.size() == keys + 3, "a stream has unit, keys, value, multiplicity");
  StreamRows stream_rows;
  std::unordered_map<std::string, std::uint32_t> units, texts;
  std::vector<Cell> tuple(keys);
  for (;;) {
    DISCREET_TRY(const auto chunk, result.next());
    if (!chunk) break;
    for (std::size_t row = 0; row < chunk->size(); ++row) {
      if (chunk->is_null(0, row) || chunk->is_null(keys + 1, row)) continue;
      for (std::size_t key = 0; key < keys; ++key)
        tuple[key] = read_cell(*chunk, columns[1 + key].type, 1 + key, row);
      const auto group = groups.find(tuple);
      if (!group || (kept != nullptr && (*group >= kept->size() || !(*kept)[*group]))) continue;
      std::string unit;
      if (columns[0].type == EngineType::Varchar) {
        unit = chunk->varchar(0, row);
      } else {
        const Int128 number = columns[0].type == EngineType::HugeInt
                                  ? chunk->int128(0, row)
                                  : Int128{chunk->int64s(0)[row]};
        unit.assign(reinterpret_cast<const char*>(&number), sizeof(number));
      }
      StreamRow read;
      read.unit = units.try_emplace(std::move(unit), static_cast<std::uint32_t>(units.size()))
                      .first->second;
      read.group = *group;
      if (stream.is_text) {
        const auto [at, is_new] = texts.try_emplace(std::string(chunk->varchar(keys + 1, row)),
                                                    static_cast<std::uint32_t>(texts.size()));
        if (is_new) stream_rows.texts.push_back(at->first);
        read.value = at->second;
      } else {
        read.value = saturate(columns[keys + 1].type == EngineType::HugeInt
                                  ? chunk->int128(keys + 1, row)
                                  : Int128{chunk->int64s(keys + 1)[row]});
      }
      const Int128 times = chunk->int128(keys + 2, row);
      read.times = static_cast<std::uint64_t>(std::clamp<Int128>(times, 0, Int128{1} << 40));
      stream_rows.rows.push_back(read);
    }
  }
  std::sort(stream_rows.rows.begin(), stream_rows.rows.end(),
            [](const StreamRow& a, const StreamRow& b) { return a.unit < b.unit; });
  return stream_rows;
}

void StreamRows::limit_units(std::uint64_t most, RandomSource& random) {
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin;
    std::uint64_t total = 0;
    for (; end < rows.size() && rows[end].unit == rows[begin].unit; ++end) total += rows[end].times;
    std::uint64_t wanted = std::min(most, total);
    // Selection sampling: each occurrence is taken with chance wanted / remaining.
    for (std::size_t i = begin; i < end; ++i) {
      std::uint64_t taken = 0;
      for (std::uint64_t t = 0; t < rows[i].times && wanted > 0; ++t, --total)
        if (total <= wanted || uniform_below(total, random) < wanted) {
          ++taken;
          --wanted;
        }
      rows[i].times = taken;
    }
    begin = end;
  }
}

}  // namespace discreet
