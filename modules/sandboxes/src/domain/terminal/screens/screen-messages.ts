/** Messages to the screen thread. Orders of one screen run in sequence; screens take turns. */
export type ScreenOrder =
  | { readonly kind: 'size'; readonly screen: number; readonly cols: number; readonly rows: number }
  | { readonly kind: 'feed'; readonly screen: number; readonly bytes: Uint8Array }
  | { readonly kind: 'gap'; readonly screen: number }
  | { readonly kind: 'draw'; readonly screen: number }
  | { readonly kind: 'forget'; readonly screen: number };

/** Messages from the screen thread. Every order except `forget` gets one answer. */
export type ScreenAnswer =
  | { readonly kind: 'done'; readonly screen: number; readonly fedBytes: number }
  | { readonly kind: 'drawn'; readonly screen: number; readonly bytes: Uint8Array }
  /** The screen is no longer kept. */
  | { readonly kind: 'refused'; readonly screen: number; readonly reason: ScreenRefusal };

export type ScreenRefusal = 'too_large' | 'too_slow' | 'failed';
