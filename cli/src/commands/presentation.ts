/** How effect/cli shows itself: help is data, mistakes are told in one place (`conclude`), no flags but our own. */

import * as CliConfig from "effect/cli/CliConfig"
import * as CliOutput from "effect/cli/CliOutput"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Only shown in the help: it is read before anything is parsed, so that it holds for mistakes as well. */
const debug = GlobalFlag.Action({
  flag: Flag.Boolean("debug").pipe(
    Flag.withDescription("With an error: show where it happened"),
    Flag.withDefault(false)
  ),
  run: () => Effect.void
})

export const presentation = Layer.merge(
  CliOutput.layerPresenter({
    present: (event) =>
      event._tag === "InvalidInvocation" && event.errors.length > 0
        ? Effect.void
        : CliOutput.defaultPresenter.present(event)
  }),
  Layer.succeed(CliConfig.CliConfig, { builtIns: [GlobalFlag.Help, GlobalFlag.Version, debug] })
)
