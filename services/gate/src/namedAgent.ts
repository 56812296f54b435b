/** The runtime, the model and its variant that an answer names for the agent that takes over. Pure. */
import { type EscalationOption, RuntimeName } from "@reprise/protocol"
import { Result, Schema } from "effect"

/** As it was typed. */
export interface NamedAgent {
  readonly runtime?: string | undefined
  readonly model?: string | undefined
  readonly variant?: string | undefined
}

/** One flag, its value without blanks or in quotes. The colon of the guidance may follow it at once. */
const flag = /^\s+--(runtime|model|variant)(?:\s+|=)(?:"([^"]*)"|'([^']*)'|(\S*?[^\s:"']))(?=:?(?:\s|$))/

/** Flags at the beginning of a text that follows a choice, and what comes after them. */
export const readFlags = (text: string): { readonly named: NamedAgent; readonly rest: string } => {
  let rest = text
  let named: NamedAgent = {}
  for (let found = flag.exec(rest); found !== null; found = flag.exec(rest)) {
    const [whole, name = "", double, single, bare] = found
    named = { ...named, [name]: double ?? single ?? bare ?? "" }
    rest = rest.slice(whole.length)
  }
  return { named, rest }
}

/** As it can be used. */
export interface UsableNames {
  readonly runtime?: RuntimeName
  readonly model?: string
  readonly variant?: string
}

const isRuntimeName = Schema.is(RuntimeName)

/** The names of models and of their variants have no blanks. */
const isName = (text: string): boolean => /^\S+$/.test(text)

const known = "opencode, claude, or the acp:COMMAND of the setting runtime"

const shown = (text: string): string => `'${text.slice(0, 80)}'`

/**
 * What the answer names, without blanks around it; empty names count as absent. Fails with a sentence that has the next
 * step where the option starts no fresh author, or a name cannot be one.
 */
export const readAgent = (option: EscalationOption, named: NamedAgent): Result.Result<UsableNames, string> => {
  const runtime = named.runtime?.trim() ?? ""
  const model = named.model?.trim() ?? ""
  const variant = named.variant?.trim() ?? ""
  if (runtime === "" && model === "" && variant === "") return Result.succeed({})
  if (option.agent !== true) {
    return Result.fail(
      `'${option.name}' starts no fresh author here, so it takes no runtime, no model and no variant. Answer again without them.`
    )
  }
  if (runtime !== "" && !isRuntimeName(runtime)) {
    return Result.fail(`There is no runtime ${shown(runtime)}. Name one of: ${known}.`)
  }
  if (model !== "" && !isName(model)) {
    return Result.fail(`${shown(model)} names no model: write it as in reprise.toml, without blanks.`)
  }
  if (variant !== "" && !isName(variant)) {
    return Result.fail(`${shown(variant)} names no variant: write it as in reprise.toml, without blanks.`)
  }
  return Result.succeed({
    ...(isRuntimeName(runtime) ? { runtime } : {}),
    ...(model === "" ? {} : { model }),
    ...(variant === "" ? {} : { variant })
  })
}
