/** How many runs a host may have at work at a time, as its environment says. Pure. */
import { Result } from "effect"

type Environment = Readonly<Record<string, string | undefined>>

export const slotsVariable = "REPRISE_HOST_RUNS"

/** How many runs the host may have at work; undefined: any number. Fails with what is wrong, as a sentence. */
export const runLimit = (environment: Environment): Result.Result<number | undefined, string> => {
  const text = environment[slotsVariable] ?? ""
  if (!/^\d{0,6}$/.test(text)) {
    return Result.fail(
      `${slotsVariable} is '${text.slice(0, 80)}': it must be a whole number, the runs that this host may have at work at a time; 0 for any number.`
    )
  }
  const limit = Number(text)
  return Result.succeed(limit === 0 ? undefined : limit)
}
