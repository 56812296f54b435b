/** How effect/cli shows itself: help is data, mistakes are told in one place (`conclude`), no flags but our own. */

import * as CliConfig from "effect/cli/CliConfig"
import * as CliOutput from "effect/cli/CliOutput"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

export const presentation = Layer.merge(
  CliOutput.layerPresenter({
    present: (event) =>
      event._tag === "InvalidInvocation" && event.errors.length > 0
        ? Effect.void
        : CliOutput.defaultPresenter.present(event)
  }),
  Layer.succeed(CliConfig.CliConfig, { builtIns: [GlobalFlag.Help, GlobalFlag.Version] })
)
