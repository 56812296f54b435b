/** What was said in a session: words open, tool calls folded. */
import type { ContentBlock, Message } from "@reprise/agent/message"
import { useQuery } from "@tanstack/react-query"
import { useWindowVirtualizer } from "@tanstack/react-virtual"
import { Suspense, useLayoutEffect, useRef, useState } from "react"
import { firstShown } from "../data/conversation.ts"
import { conversationQuery } from "../data/queries.ts"
import { AgentText } from "../parts/AgentText.tsx"
import { loadedLater } from "../parts/loadedLater.ts"
import { Failed, Loading } from "../parts/Notice.tsx"
import { visible } from "../parts/visible.ts"

const LongText = loadedLater(() => import("../parts/LongText.tsx"))

/** A tool's most telling input: a path, a command. */
const argumentOf = (input: Readonly<Record<string, unknown>>): string => {
  const { command, description, file_path, filePath, path, pattern, url } = input
  const found = [command, file_path, filePath, path, pattern, url, description].find((one) => typeof one === "string")
  return typeof found === "string" ? (found.split("\n")[0] ?? "").slice(0, 200) : ""
}

function ToolCall({ block }: { readonly block: Exclude<ContentBlock, { readonly type: "text" }> }) {
  const [open, setOpen] = useState(false)
  const isCall = block.type === "tool_use"
  const title = isCall
    ? `${block.tool_use.name} ${argumentOf(block.tool_use.input)}`
    : block.tool_result.isError
      ? "failed"
      : `result, ${block.tool_result.output.length} characters`
  return (
    <details className="text-sm" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className={`font-mono text-[13px] ${!isCall && block.tool_result.isError ? "text-bad" : "text-soft"}`}>
        {visible(title)}
      </summary>
      {open && (
        <Suspense fallback={null}>
          <LongText
            label={isCall ? "Input of the tool" : "Output of the tool"}
            text={isCall ? JSON.stringify(block.tool_use.input, null, 2) : block.tool_result.output}
          />
        </Suspense>
      )}
    </details>
  )
}

/** What an agent is told is long and much the same each time. */
const longPrompt = 600

function Told({ text }: { readonly text: string }) {
  const [open, setOpen] = useState(false)
  if (text.length <= longPrompt) return <AgentText text={text} />
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="line-clamp-3">{visible(text.slice(0, longPrompt))}</summary>
      {open && <AgentText text={text} />}
    </details>
  )
}

function Block({ block, isUser }: { readonly block: ContentBlock; readonly isUser: boolean }) {
  if (block.type !== "text") return <ToolCall block={block} />
  return isUser ? <Told text={block.text} /> : <AgentText text={block.text} />
}

function Said({ message }: { readonly message: Message }) {
  const isUser = message.role === "user"
  return (
    <div className={`rounded-md px-3 py-2 ${isUser ? "bg-tint" : "bg-card"}`}>
      <p className="text-soft text-xs">
        {isUser ? "Told to the agent" : "Agent"}
        {message.timestamp !== undefined && ` · ${new Date(message.timestamp).toLocaleTimeString()}`}
      </p>
      <div className="space-y-2">
        {message.content.map((block, index) => (
          <Block block={block} isUser={isUser} key={index} />
        ))}
      </div>
    </div>
  )
}

const usualHeight = 120

/** From the first message on, of which only those that are seen are in the page. */
function AllSaid({ messages }: { readonly messages: ReadonlyArray<Message> }) {
  const list = useRef<HTMLOListElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    if (list.current !== null) setTop(list.current.getBoundingClientRect().top + scrollY)
  }, [])
  const rows = useWindowVirtualizer({
    count: messages.length,
    estimateSize: () => usualHeight,
    gap: 8,
    overscan: 6,
    scrollMargin: top,
    getItemKey: (index) => messages[index]?.id ?? index
  })
  return (
    <ol className="relative" ref={list} style={{ height: rows.getTotalSize() }}>
      {rows.getVirtualItems().map(({ index, key, start }) => {
        const message = messages[index]
        if (message === undefined) return null
        return (
          <li
            aria-posinset={index + 1}
            aria-setsize={messages.length}
            className="absolute inset-x-0 top-0"
            data-index={index}
            key={key}
            ref={rows.measureElement}
            style={{ transform: `translateY(${start - top}px)` }}
          >
            <Said message={message} />
          </li>
        )
      })}
    </ol>
  )
}

export function Conversation({ sessionId }: { readonly sessionId: string }) {
  const { data, error } = useQuery(conversationQuery(sessionId))
  const [all, setAll] = useState(false)
  if (error !== null) return <Failed error={error} what="The conversation cannot be shown" />
  if (data === undefined) return <Loading what="the conversation" />
  const { messages } = data
  if (messages.length === 0) return <p className="text-soft">Nothing was said yet.</p>
  if (all) return <AllSaid messages={messages} />
  const first = firstShown(messages)
  return (
    <div className="space-y-2">
      {first > 0 && (
        <button
          className="border-line bg-card text-strong min-h-11 w-full rounded-md border font-medium"
          onClick={() => setAll(true)}
          type="button"
        >
          Show all {messages.length} messages, {first} of them earlier
        </button>
      )}
      <ol className="space-y-2">
        {messages.slice(first).map((message) => (
          <li key={message.id}>
            <Said message={message} />
          </li>
        ))}
      </ol>
    </div>
  )
}
