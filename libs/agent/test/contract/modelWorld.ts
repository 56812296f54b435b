import { type CallRecord, ScriptedModel } from "@reprise/scripted-model"
import { Effect, Layer } from "effect"
import { Places } from "./Places.ts"
import { World } from "./World.ts"

/**
 * A world whose agents ask the scripted model. `killer` gives what kills the runtime; `counted` leaves out the calls that an
 * agent makes for itself, such as for a title.
 */
export const modelWorld = <E, R>(
  killer: Effect.Effect<Effect.Effect<void>, E, R>,
  counted: (call: CallRecord) => boolean = () => true
) =>
  Layer.effect(
    World,
    Effect.gen(function* () {
      const { directory } = yield* Places
      const model = yield* ScriptedModel
      return World.of({
        directory,
        modelCalls: Effect.map(model.calls, (calls) => calls.filter(counted).length),
        release: (name) => model.release(name),
        reached: (name) => model.awaitHeld(name),
        crash: yield* killer
      })
    })
  )
