/** The settings that runs are started with, and where each was read. */
import type { ConsoleSetting } from "@reprise/protocol"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { settingsQuery } from "../data/queries.ts"
import { Heading } from "../parts/Heading.tsx"
import { Failed, Loading } from "../parts/Notice.tsx"
import { PushSwitch } from "../parts/PushSwitch.tsx"
import { useTitle } from "../parts/title.ts"
import { visible } from "../parts/visible.ts"

const isChanged = ({ source }: ConsoleSetting): boolean => source !== "default"
const valueText = ({ value }: ConsoleSetting): string =>
  value === null ? "not set" : typeof value === "string" ? value : JSON.stringify(value)

function Row({ row }: { readonly row: ConsoleSetting }) {
  return (
    <div className="px-4 py-2.5">
      <dt className="flex flex-wrap items-baseline justify-between gap-x-3">
        <code className="text-strong font-medium">{row.setting}</code>
        <span className={isChanged(row) ? "text-accent text-sm" : "text-soft text-sm"}>{visible(row.from)}</span>
      </dt>
      <dd>
        <code className="text-sm">{visible(valueText(row))}</code>
        <p className="text-soft text-sm">{row.description}</p>
      </dd>
    </div>
  )
}

export function Settings() {
  const { data, error } = useQuery(settingsQuery)
  useTitle("Settings")
  const [filter, setFilter] = useState("")
  const [onlyChanged, setOnlyChanged] = useState(false)
  if (error !== null) return <Failed error={error} what="The settings cannot be shown" />
  if (data === undefined) return <Loading what="the settings" />
  const wanted = filter.toLowerCase()
  const rows = data.filter(
    (row) =>
      (!onlyChanged || isChanged(row)) && `${row.setting} ${row.description} ${row.from}`.toLowerCase().includes(wanted)
  )
  return (
    <div className="mx-auto max-w-3xl space-y-3">
      <Heading className="text-xl">Settings</Heading>
      <PushSwitch />
      <p className="text-soft">
        The next run's settings; a plan can override them in its front matter. Change them in <code>reprise.toml</code>,
        or for this machine in <code>reprise.local.toml</code>.
      </p>
      <div className="flex flex-wrap items-center gap-3">
        <input
          aria-label="Find a setting"
          className="border-line bg-card text-strong min-h-11 min-w-48 flex-1 rounded-md border px-3"
          onChange={({ target }) => setFilter(target.value)}
          placeholder="Find a setting"
          type="search"
          value={filter}
        />
        <label className="flex min-h-11 items-center gap-2">
          <input checked={onlyChanged} onChange={({ target }) => setOnlyChanged(target.checked)} type="checkbox" />
          Only those that are set
        </label>
      </div>
      {rows.length === 0 ? (
        <p className="text-soft py-4">No setting fits.</p>
      ) : (
        <dl className="card divide-line divide-y">
          {rows.map((row) => (
            <Row key={row.setting} row={row} />
          ))}
        </dl>
      )}
    </div>
  )
}
