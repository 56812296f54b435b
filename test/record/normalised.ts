/** What a command has printed, as another machine would print it on another day. Pure. */

export const shownRun = "rtou1va-c63dcaef"
const shownTime = "2026-11-21 09:12 UTC"
const shownDemo = "/tmp/reprise-demo/greeter"
const shownFolder = "/home/you/my-repository"
const shownCommits = ["c86a8c9e8d", "707e3514de", "25d24306e1"]
const shownSessions = ["ses_1", "ses_2", "ses_3", "ses_4"]

const cellsOf = (line: string): ReadonlyArray<string> =>
  line
    .split("│")
    .slice(1, -1)
    .map((cell) => cell.trim())

const rule = (widths: ReadonlyArray<number>, [left, middle, right]: readonly [string, string, string]): string =>
  `${left}${widths.map((width) => "─".repeat(width + 2)).join(middle)}${right}`

/** A table is as wide as what is in it now. */
const redrawn = (table: string): string => {
  const lines = table.split("\n")
  const rows = lines.map((line) => (line.startsWith("│") ? cellsOf(line) : undefined))
  const widths = (rows[1] ?? []).map((_, column) => Math.max(...rows.map((row) => row?.[column]?.length ?? 0)))
  return rows
    .map((row, index) => {
      if (row !== undefined) return `│ ${row.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join(" │ ")} │`
      if (index === 0) return rule(widths, ["┌", "┬", "┐"])
      return rule(widths, index === rows.length - 1 ? ["└", "┴", "┘"] : ["├", "┼", "┤"])
    })
    .join("\n")
}

/** The same name for the same thing, in the order in which they appear. */
const renamed = (output: string, pattern: RegExp, names: ReadonlyArray<string>): string => {
  const known = [...new Set(output.match(pattern) ?? [])]
  return output.replaceAll(pattern, (found) => names[known.indexOf(found)] ?? found)
}

const shownTokens: Readonly<Record<string, string>> = {
  author: "19441 in, 446 out, 73577 cached",
  reviewer: "17983 in, 145 out, 8706 cached"
}
const shownCounts = ["9849 │ 237 │ 45981", "9256 │ 120 │ 8706", "9592 │ 209 │ 27596", "8727 │ 25 │ 0"]

/** What was used differs with the length of paths and with the day. */
const withCounts = (output: string): string => {
  let row = 0
  return output
    .replaceAll(
      /(│ (author|reviewer) +│ \d+ +│) \d+ in, \d+ out, \d+ cached +│/g,
      (_found, begin: string, role: string) => `${begin} ${shownTokens[role]} │`
    )
    .replaceAll(/(│ completed +│ \d+ +│) \d+ +│ \d+ +│ \d+ +│(?= ses_)/g, (_found, begin: string) => {
      const counts = shownCounts[row % shownCounts.length]
      row += 1
      return `${begin} ${counts} │`
    })
}

/** Of turns, in their order. */
const shownTurns = ["7.8 s, 9.1k tokens", "0.8 s, 8.8k tokens", "1.1 s, 994 tokens", "0.8 s, 577 tokens"]

/** What a turn took differs each time. */
const withTurns = (output: string): string => {
  let turn = 0
  return output.replaceAll(
    /^((?:\S+Z)? +[a-z_]+ in )\d+(?:\.\d)? (?:s|min), [\d.]+[kM]? tokens$/gm,
    (_found, begin: string) => {
      const shown = shownTurns[turn % shownTurns.length]
      turn += 1
      return `${begin}${shown}`
    }
  )
}

/** Commands that print a line for each event. */
const tellsEvents = /^(?:demo|logs|run)\b/

/** What agents do while they work is told once in a while: how many such lines there are depends on how fast they are. */
const whileWorking = /^(?:\d{4}-\S+Z)? +(?:… .*|The agent is working)\n/gm

/** Two services tell of a review that begins, in either order. */
const reviewBegins = /^( +Reviewer (?:starts|continues) .*\n)( +Review \d+ of .*\n)/gm

/** Times of a log, in steps: only their order is of interest. */
const withSteps = (output: string): string => {
  let step = 0
  return output.replaceAll(/^\d{4}-\d\d-\d\dT[\d:.]+Z/gm, () => {
    const shown = new Date(Date.parse("2026-11-21T09:12:00.120Z") + step * 430).toISOString()
    step += 1
    return shown
  })
}

/** What `doctor` finds on this machine alone. */
const shownChecks: Readonly<Record<string, string>> = {
  git: "git version 2.47.3",
  "nats-server": "2.10.27 (/usr/bin/nats-server)",
  claude: "2.1.329 (Claude Code) (/usr/bin/claude)",
  disk: "76.1 GB free",
  sandbox: "Commands run in it; 'reprise sandbox explain' shows what they may touch.",
  broker: "nats-server 2.10.27, round trip 0 ms, writes to disk before it acknowledges",
  streams: "9 streams ok, 0.5 MB used"
}

const withChecks = (output: string): string =>
  output
    .split(/^(?=├.*$)/m)
    .map((group) => {
      const [, name = ""] = /^│ (\S+) +│/m.exec(group) ?? []
      const found = shownChecks[name]
      return found === undefined ? group : group.replace(/^│[\s\S]*│$/m, `│ ${name} │ ok │ ${found} │`)
    })
    .join("")

/** Where a long output is cut: what follows is in another order each time, or more of the same. */
const ends: Readonly<Record<string, RegExp>> = {
  "demo --no-input": /^Phase 1 done.*\n/m,
  logs: /^\S+ +Reviewing phase 1\n/m
}

const shortened = (output: string, command: string): string => {
  const end = ends[command]?.exec(output)
  return end == null ? output : `${output.slice(0, end.index + end[0].length)}…\n`
}

/** `folder`: where the command was called. */
export const normalised = (output: string, folder: string, command = ""): string => {
  const text = shortened(output, command)
    .replaceAll(folder, command.startsWith("demo") ? shownDemo : shownFolder)
    .replaceAll(/\S+(?=\/node_modules\/)/g, "(/home/you/reprise")
    .replaceAll(/\br[a-z0-9]{6}-[0-9a-f]{8}\b/g, shownRun)
    .replaceAll(/\b\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, shownTime)
    .replaceAll(/\b\d+ min ago/g, "just now")
    .replaceAll(/\b\d+ tokens \(and \d+ from the cache\)/g, "28174 tokens (and 54572 from the cache)")
    .replaceAll(/\b\d+ % of its context used \(\d+ of/g, "7 % of its context used (8823 of")
    .replaceAll(/\bHEAD is [0-9a-f]{7,}/g, "HEAD is 25d2430")
    .replaceAll(/\bcontext \d+ % full/g, "context 7 % full")
    .replaceAll(/^(Answered: \S+ by ).*$/gm, "$1you")
    .replaceAll(/^(said by )(?!the ).*?( for the )/gm, "$1you$2")
  const checked = command === "doctor" ? withChecks(text) : text
  const told = tellsEvents.test(command)
    ? checked.replaceAll(whileWorking, "").replaceAll(reviewBegins, "$2$1")
    : checked
  const counted = withSteps(withTurns(withCounts(told)))
  const named = renamed(renamed(counted, /\bses_\w+/g, shownSessions), /\b[0-9a-f]{10}\b/g, shownCommits)
  return named.replaceAll(/^┌.*┐\n(?:[│├].*\n)+└.*┘$/gm, redrawn).trimEnd()
}
