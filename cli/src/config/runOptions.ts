/** What a run is to do, from the configuration and the flags of `run`. Pure. */
import type { PhaseId, RunOptions } from "@reprise/protocol"
import { type Config, get } from "./Config.ts"
import { settings } from "./settings.ts"

export interface RunFlags {
  readonly auto: boolean
  readonly allowDirty: boolean
  readonly skipQuality: boolean
  readonly startPhase?: PhaseId
}

const section = (config: Config, name: string): Record<string, unknown> =>
  Object.fromEntries(
    settings
      .filter(({ path }) => path.startsWith(`${name}.`))
      .map(({ path }) => [path.slice(name.length + 1), config.get(path)?.value])
  )

/** `prompts`: the user's texts in place of prompt templates, by name. */
export const runOptions = (config: Config, flags: RunFlags, prompts: RunOptions["prompts"] = {}): RunOptions => {
  const model = get<string | undefined>(config, "model")
  const reviewerModel = get<string | undefined>(config, "reviewerModel")
  return {
    auto: flags.auto,
    allowDirty: flags.allowDirty,
    skipQuality: flags.skipQuality,
    ...(flags.startPhase === undefined ? {} : { startPhase: flags.startPhase }),
    worktree: get(config, "workspace.worktree"),
    postCreate: get(config, "workspace.postCreate"),
    runtime: get(config, "runtime"),
    ...(model === undefined ? {} : { model }),
    ...(reviewerModel === undefined ? {} : { reviewerModel }),
    permissions: get(config, "permissions"),
    reviewPath: get(config, "reviewPath"),
    gates: section(config, "gates") as RunOptions["gates"],
    limits: section(config, "limits") as RunOptions["limits"],
    continuation: section(config, "continuation") as RunOptions["continuation"],
    prompts
  }
}
