/** The last texts of many, as far as they are kept. */
export interface LastTexts {
  readonly add: (text: string) => void
  readonly all: () => ReadonlyArray<string>
}

/** `most`: texts; `mostCharacters`: of all that are kept. The newest one is kept whatever its length. */
export const makeLastTexts = (most: number, mostCharacters: number): LastTexts => {
  const kept: Array<string> = []
  let first = 0
  let characters = 0
  return {
    add: (text) => {
      kept.push(text)
      characters += text.length
      while (kept.length - first > 1 && (kept.length - first > most || characters > mostCharacters)) {
        characters -= kept[first]?.length ?? 0
        first += 1
      }
      // What is forgotten takes no room for long.
      if (first > most) {
        kept.splice(0, first)
        first = 0
      }
    },
    all: () => kept.slice(first)
  }
}
