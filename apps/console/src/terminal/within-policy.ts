/**
 * The terminal's library writes style elements and style attributes, which the content security policy refuses. While
 * `open` runs, its elements become constructed sheets; from then on, style attributes of spans are set as declarations.
 * The policy allows both to a page's own script (CSP 3, 8.2), and they look the same.
 */
export function openWithinPolicy(open: () => void): void {
  HTMLSpanElement.prototype.setAttribute = setAttribute;
  Object.defineProperty(document, 'createElement', { value: createElement, configurable: true });
  try {
    open();
  } finally {
    Reflect.deleteProperty(document, 'createElement'); // restores the prototype's method
  }
}

function setAttribute(this: HTMLSpanElement, name: string, value: string): void {
  if (name === 'style') this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}

function createElement(name: string): HTMLElement {
  return name === 'style' ? sheetElement() : Document.prototype.createElement.call(document, name);
}

/** Replaces the style element, and removes its sheet when it is removed. */
function sheetElement(): HTMLElement {
  const element = Document.prototype.createElement.call(document, 'template');
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  Object.defineProperty(element, 'textContent', {
    set: (rules: string) => {
      sheet.replaceSync(rules);
    },
  });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}
