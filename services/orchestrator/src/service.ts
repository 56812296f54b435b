/** The orchestrator: Run actors that send and receive messages and do nothing else, and the watch over them. */
import { actorLayer, Messenger } from "@reprise/actor"
import { Layer } from "effect"
import { runActor } from "./machine/actor.ts"
import { defaultWatchSettings, type WatchSettings, watchRuns } from "./work/watchRuns.ts"

/** The watch alone. */
export const watchWith = (changes: Partial<WatchSettings> = {}) =>
  Layer.effectDiscard(watchRuns({ ...defaultWatchSettings, ...changes })).pipe(Layer.provide(Messenger.layer))

export const layerWith = (changes: Partial<WatchSettings> = {}) => Layer.merge(watchWith(changes), actorLayer(runActor))

export const layer = layerWith()
