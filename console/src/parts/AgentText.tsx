/** An agent's text as markdown, and plain until the markdown reader has loaded. A very long text is cut at first. */
import { CatchBoundary } from "@tanstack/react-router"
import { Suspense, useState } from "react"
import { isCostly } from "./costlyMarkdown.ts"
import { loadedLater } from "./loadedLater.ts"
import { visible } from "./visible.ts"

const Markdown = loadedLater(() => import("./Markdown.tsx"))
const LongText = loadedLater(() => import("./LongText.tsx"))

/** To read more as markdown would stop the page. */
const longest = 20_000

export function AgentText({ text }: { readonly text: string }) {
  const [all, setAll] = useState(false)
  const start = text.slice(0, longest)
  const plain = <p className="whitespace-pre-wrap break-words">{visible(start)}</p>
  const shown = isCostly(start) ? plain : <Markdown text={start} />
  return (
    <Suspense fallback={plain}>
      {/* What cannot be read as markdown takes nothing else of the page away. */}
      <CatchBoundary errorComponent={() => plain} getResetKey={() => text}>
        {all ? <LongText label="All words" text={text} wraps /> : shown}
      </CatchBoundary>
      {!all && text.length > longest && (
        <button className="text-accent min-h-11 underline" onClick={() => setAll(true)} type="button">
          Show all {text.length} characters
        </button>
      )}
    </Suspense>
  )
}
