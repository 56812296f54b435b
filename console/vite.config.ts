import tailwindcss from "@tailwindcss/vite"
import react from "@vitejs/plugin-react"
import { defineConfig } from "vite"

/**
 * Nothing is inlined as `data:` but small images: the policy of the page allows no script or font from there. The service
 * worker stands beside the page under a name that never changes, and imports nothing, as its browser wants it.
 */
export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: {
    target: "es2024",
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      input: { index: "index.html", "service-worker": "src/workers/service.ts" },
      output: {
        entryFileNames: ({ name }) => (name === "service-worker" ? "[name].js" : "assets/[name]-[hash].js")
      }
    }
  }
})
