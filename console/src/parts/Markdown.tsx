/** An agent's text as markdown without HTML, images and scripts: nothing in it acts or is loaded. */
import type { ReactNode } from "react"
import ReactMarkdown, { type Components } from "react-markdown"
import rehypeSanitize from "rehype-sanitize"
import remarkGfm from "remark-gfm"
import { visible } from "./visible.ts"

function Title({ children }: { readonly children?: ReactNode }) {
  return <p className="title">{children}</p>
}

const components: Components = {
  // The list's own words say what is checked; a box that nobody can tick needs no name.
  input: ({ checked }) => <span>{checked === true ? "☑ " : "☐ "}</span>,
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section aria-label="Table" className="overflow-x-auto text-sm" tabIndex={0}>
      <table>{children}</table>
    </section>
  ),
  img: ({ alt }) => <span>[image: {alt}]</span>,
  // An agent's headings would stand in the outline of the page, where they are of no level.
  h1: Title,
  h2: Title,
  h3: Title,
  h4: Title,
  h5: Title,
  h6: Title,
  // A link that could act has lost its address by now.
  a: ({ children, href = "" }) =>
    href === "" ? (
      <span>{children}</span>
    ) : (
      <a href={href} rel="noreferrer noopener nofollow" target="_blank" title={href}>
        {children}
      </a>
    )
}

interface Node {
  type: string
  children?: Array<Node>
  value?: string
}

/** HTML is shown as the text that it is: left out, a reader would not know what the agent wrote. */
const htmlAsText = () => (tree: Node) => {
  const change = (node: Node) => {
    node.children?.forEach(change)
    if (node.type !== "html") return
    node.type = "text"
  }
  change(tree)
}

export default function Markdown({ text }: { readonly text: string }) {
  return (
    <div className="words">
      <ReactMarkdown components={components} rehypePlugins={[rehypeSanitize]} remarkPlugins={[remarkGfm, htmlAsText]}>
        {visible(text)}
      </ReactMarkdown>
    </div>
  )
}
