/** Words of an agent, with a plain form until the reader of markdown has been loaded. */
import { lazy, Suspense } from "react"
import { visible } from "./visible.ts"

const Markdown = lazy(() => import("./Markdown.tsx"))

export function Words({ text }: { readonly text: string }) {
  return (
    <Suspense fallback={<p className="whitespace-pre-wrap break-words">{visible(text).slice(0, 2000)}</p>}>
      <Markdown text={text} />
    </Suspense>
  )
}
