// An explorer inside another page. Where a page names one (companion.build.staging), this is a link; here the link gets a
// button that opens the explorer's own page in a frame below it, of which the explorer alone is shown. Nothing is loaded
// before someone asks. The two pages talk by messages, which works from a folder, too.
const FRAME = "explorer-here"; // the frame's name, by which the page in it knows where it is

function offerExplorer(place) {
  const link = place.querySelector("a[href]");
  if (!link) return;
  const [open, close] = ["Open it here", "Close it"];
  const button = document.createElement("button");
  Object.assign(button, { type: "button", textContent: open, ariaExpanded: "false", ariaLabel: `${open}: ${link.textContent}` });
  place.append(button);
  let frame = null;
  const talk = () => frame?.contentWindow?.postMessage({ theme: document.documentElement.dataset.theme }, "*");
  button.addEventListener("click", () => {
    if (frame) {
      frame.remove();
      frame = null;
    } else {
      frame = document.createElement("iframe");
      Object.assign(frame, { name: FRAME, title: link.textContent, src: link.href });
      place.append(frame);
    }
    button.textContent = frame ? close : open;
    button.ariaExpanded = String(Boolean(frame));
    button.ariaLabel = `${button.textContent}: ${link.textContent}`;
  });
  addEventListener("message", ({ source, data }) => {
    if (!frame || source !== frame.contentWindow || !(data?.height > 0)) return;
    frame.style.height = `${Math.min(Math.ceil(data.height), 3000)}px`;
    talk();
  });
  new MutationObserver(talk).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}

// The page in the frame: all but the explorer goes, and its height is told.
function standAlone() {
  const explorer = document.querySelector(".explorer");
  if (!explorer) return;
  document.documentElement.classList.add("explorer-alone");
  for (let box = explorer; box !== document.body; box = box.parentElement) {
    for (const other of box.parentElement.children) if (other !== box) other.classList.add("explorer-aside");
    box.parentElement.classList.add("explorer-around");
  }
  const tell = () => parent.postMessage({ height: explorer.getBoundingClientRect().height + 16 }, "*");
  new ResizeObserver(tell).observe(explorer);
  addEventListener("message", ({ source, data }) => {
    if (source === parent && ["light", "dark"].includes(data?.theme)) document.documentElement.dataset.theme = data.theme;
  });
}

function placeExplorers() {
  if (window.name === FRAME && parent !== window) standAlone();
  else document.querySelectorAll(".explorer-here").forEach(offerExplorer);
}
if (document.readyState === "loading") addEventListener("DOMContentLoaded", placeExplorers);
else placeExplorers();
