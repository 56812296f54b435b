/** Compares settings of a stream or consumer with the wanted ones. Pure. */

export interface Difference {
  readonly field: string
  readonly wanted: string
  readonly found: string
}

type Setting = string | number | boolean | ReadonlyArray<string | number> | undefined

/** Servers leave out zero values and return lists in any order. */
const shown = (setting: Setting): string => {
  if (setting === undefined || setting === false || setting === 0 || setting === "") return "none"
  return typeof setting === "object" ? [...setting].map(String).sort().join(", ") : String(setting)
}

/** The fields of `wanted` that have another value in `found`. Other fields of `found` are ignored. */
export const differences = (wanted: object, found: object): ReadonlyArray<Difference> => {
  const actual = new Map<string, Setting>(Object.entries(found))
  return Object.entries(wanted).flatMap(([field, setting]: [string, Setting]) => {
    const pair = { field, wanted: shown(setting), found: shown(actual.get(field)) }
    return pair.wanted === pair.found ? [] : [pair]
  })
}
