#include "compile/ahead/forecast.h"

#include <algorithm>

namespace xpu {

Forecast::Forecast(std::vector<std::vector<ReadyKey>> programs)
    : programs_(std::move(programs)), shared_(programs_.size()) {
  for (std::size_t program = 0; program < programs_.size(); ++program)
    for (std::size_t position = 0; position < programs_[program].size(); ++position)
      places_[programs_[program][position]].push_back({program, position});
}

void Forecast::add(const ReadyKey& key) {
  if (!wanted_.insert(key).second) return;
  auto places = places_.find(key);
  if (places == places_.end()) return;
  for (auto& place : places->second) ++shared_[place.program];
}

std::vector<ReadyKey> Forecast::after(const ReadyKey& key) const {
  auto places = places_.find(key);
  if (places == places_.end()) return {};
  // Long programs share keys by chance.
  auto likeness = [&](const Place& place) {
    auto shared = static_cast<double>(shared_[place.program]);
    return shared * shared / static_cast<double>(programs_[place.program].size());
  };
  auto best = std::ranges::max_element(places->second, {}, likeness);
  auto& program = programs_[best->program];
  std::vector<ReadyKey> keys;
  for (auto at = best->position + 1; at < program.size(); ++at)
    if (!wanted_.contains(program[at])) keys.push_back(program[at]);
  return keys;
}

}  // namespace xpu
