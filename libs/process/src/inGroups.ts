const atOnce = 256

/** Asks about many things, a group of them at the same time; gives the answers in their order. */
export const inGroups = async <A, B>(all: ReadonlyArray<A>, run: (one: A) => Promise<B>): Promise<ReadonlyArray<B>> => {
  const found: Array<B> = []
  for (let at = 0; at < all.length; at += atOnce) {
    found.push(...(await Promise.all(all.slice(at, at + atOnce).map(run))))
  }
  return found
}
