/** What was said in a session: words open, tool calls folded. */
import type { ContentBlock, Message } from "@reprise/agent/message"
import { useQuery } from "@tanstack/react-query"
import { lazy, Suspense, useState } from "react"
import { conversationQuery } from "../data/queries.ts"
import { Failed, Loading } from "../parts/Notice.tsx"
import { visible } from "../parts/visible.ts"
import { Words } from "../parts/Words.tsx"

const LongText = lazy(() => import("../parts/LongText.tsx"))

/** The newest ones are shown first; there may be thousands. */
const shownAtFirst = 40

/** A tool's most telling input: a path, a command. */
const argumentOf = (input: Readonly<Record<string, unknown>>): string => {
  const { command, description, file_path, filePath, path, pattern, url } = input
  const found = [command, file_path, filePath, path, pattern, url, description].find((one) => typeof one === "string")
  return typeof found === "string" ? (found.split("\n")[0] ?? "").slice(0, 200) : ""
}

function ToolCall({ block }: { readonly block: Exclude<ContentBlock, { readonly type: "text" }> }) {
  const [open, setOpen] = useState(false)
  const isCall = block.type === "tool_use"
  const text = isCall ? JSON.stringify(block.tool_use.input, null, 2) : block.tool_result.output
  const title = isCall
    ? `${block.tool_use.name} ${argumentOf(block.tool_use.input)}`
    : block.tool_result.isError
      ? "failed"
      : `result, ${text.length} characters`
  return (
    <details className="text-sm" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className={`font-mono text-[13px] ${!isCall && block.tool_result.isError ? "text-bad" : "text-soft"}`}>
        {visible(title)}
      </summary>
      {open && (
        <Suspense fallback={null}>
          <LongText label={isCall ? "Input of the tool" : "Output of the tool"} text={text} />
        </Suspense>
      )}
    </details>
  )
}

/** What an agent is told is long and much the same each time. */
const longPrompt = 600

function Told({ text }: { readonly text: string }) {
  const [open, setOpen] = useState(false)
  if (text.length <= longPrompt) return <Words text={text} />
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="line-clamp-3">{visible(text.slice(0, longPrompt))}</summary>
      {open && <Words text={text} />}
    </details>
  )
}

function Block({ block, isUser }: { readonly block: ContentBlock; readonly isUser: boolean }) {
  if (block.type !== "text") return <ToolCall block={block} />
  return isUser ? <Told text={block.text} /> : <Words text={block.text} />
}

function Said({ message }: { readonly message: Message }) {
  const isUser = message.role === "user"
  return (
    <li className={`rounded-md px-3 py-2 ${isUser ? "bg-tint" : "bg-card"}`}>
      <p className="text-soft text-xs">
        {isUser ? "Told to the agent" : "Agent"}
        {message.timestamp !== undefined && ` · ${new Date(message.timestamp).toLocaleTimeString()}`}
      </p>
      <div className="space-y-2">
        {message.content.map((block, index) => (
          <Block block={block} isUser={isUser} key={index} />
        ))}
      </div>
    </li>
  )
}

export function Conversation({ sessionId }: { readonly sessionId: string }) {
  const { data, error } = useQuery(conversationQuery(sessionId))
  const [all, setAll] = useState(false)
  if (error !== null) return <Failed error={error} what="The conversation cannot be shown" />
  if (data === undefined) return <Loading what="the conversation" />
  if (data.messages.length === 0) return <p className="text-soft">Nothing was said yet.</p>
  const hidden = all ? 0 : Math.max(0, data.messages.length - shownAtFirst)
  return (
    <div className="space-y-2">
      {hidden > 0 && (
        <button
          className="border-line bg-card text-strong min-h-11 w-full rounded-md border font-medium"
          onClick={() => setAll(true)}
          type="button"
        >
          Show {hidden} earlier messages
        </button>
      )}
      <ol className="space-y-2">
        {data.messages.slice(hidden).map((message) => (
          <Said key={message.id} message={message} />
        ))}
      </ol>
    </div>
  )
}
