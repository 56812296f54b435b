/**
 * Open files that this process inherited, such as what a person's shell has open: every program that it
 * starts would have them too. Node closes those only up to the first gap above 15.
 */
import { closeSync, readdirSync, readFileSync } from "node:fs"

const closesWithPrograms = 0o2000000

/**
 * Of the numbers of open files, those that programs would inherit (`flags`: as `/proc/self/fdinfo` has them, octal) and that
 * nobody named to this process, as `<(…)` of a shell does in an argument or a variable. Pure.
 */
export const unknownFiles = (
  open: ReadonlyArray<{ readonly number: number; readonly flags: string }>,
  words: ReadonlyArray<string>
): ReadonlyArray<number> => {
  const named = new Set(
    words.flatMap((word) => [...word.matchAll(/\/(?:dev|proc\/self)\/fd\/(\d+)/g)].map((found) => Number(found[1])))
  )
  return open
    .filter(({ flags }) => (Number.parseInt(flags, 8) & closesWithPrograms) === 0)
    .map(({ number }) => number)
    .filter((number) => number > 2 && !named.has(number))
}

/** Closes them, before this process opens any of its own. Where a system does not list them, it does nothing. */
export const closeUnknownFiles = (): void => {
  const flagsOf = (number: number): string => {
    try {
      return /(?<![^\n])flags:\s*(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${number}`, "utf8"))?.[1] ?? ""
    } catch {
      return ""
    }
  }
  let numbers: ReadonlyArray<number> = []
  try {
    numbers = readdirSync("/proc/self/fd").map(Number)
  } catch {
    return
  }
  const open = numbers.map((number) => ({ number, flags: flagsOf(number) })).filter(({ flags }) => flags !== "")
  const words = [...process.argv, ...Object.values(process.env).flatMap((value) => value ?? [])]
  for (const number of unknownFiles(open, words)) {
    try {
      closeSync(number)
    } catch {
      // Something else has closed it.
    }
  }
}
