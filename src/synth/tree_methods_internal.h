// What AIM and MST share: from noisy marginals of groups to records of the original domain.
#pragma once

#include "synth/dice.h"
#include "synth/fit.h"
#include "synth/graphical_model.h"
#include "synth/grouping.h"

namespace discreet::synth {

ModelMeasurement to_measurement(const NoisyMarginal& noisy);

/// Tables of the model, with values for groups, put into the twin.
void emit_tables(const GraphicalModel& model, const Grouping& grouping, const Domain& domain,
                 const FitContext& context, Dice& dice, Twin& twin);

}  // namespace discreet::synth
