/** Keeps argument lists short. Browsers and older Node.js versions lack `Uint8Array.fromBase64`. */
const PIECE_BYTES = 0x8000;

/** Encodes bytes as padded base64 (RFC 4648, section 4). */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    binary += String.fromCharCode(...bytes.subarray(start, start + PIECE_BYTES));
  }
  return btoa(binary);
}

/** Decodes base64 (RFC 4648, section 4). Throws a `DOMException` if the text is invalid. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
