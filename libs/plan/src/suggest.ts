import { closest, distance } from "fastest-levenshtein"

/** `; did you mean 'x'?` when one of the known words is close to the given one, else the list of them. */
export const suggest = (word: string, known: ReadonlyArray<string>): string => {
  const nearest = closest(word.slice(0, 64), known)
  return distance(word.slice(0, 64), nearest) <= Math.max(2, Math.floor(nearest.length / 3))
    ? `did you mean '${nearest}'?`
    : `known are ${known.join(", ")}.`
}

/** Text of a plan as it may stand in a message: one line, not too long. */
export const quoted = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return `'${line.length > 60 ? `${line.slice(0, 59)}…` : line}'`
}
