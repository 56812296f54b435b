/** Says that a list ends before its end. */
import { count } from "../data/format.ts"

export function More({ of, what }: { readonly of: number; readonly what: string }) {
  return of > 0 ? <p className="text-warn text-sm">and {count(of, `more ${what}`)}</p> : null
}
