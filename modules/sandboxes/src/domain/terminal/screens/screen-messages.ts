/** To the thread that keeps screens; those of one screen are obeyed in order, screens in turn. */
export type ScreenOrder =
  | { readonly kind: 'size'; readonly screen: number; readonly cols: number; readonly rows: number }
  | { readonly kind: 'feed'; readonly screen: number; readonly bytes: Uint8Array }
  | { readonly kind: 'gap'; readonly screen: number }
  | { readonly kind: 'draw'; readonly screen: number }
  | { readonly kind: 'forget'; readonly screen: number };

/** From it; every order but `forget` is answered by one of them. */
export type ScreenAnswer =
  | { readonly kind: 'done'; readonly screen: number; readonly fedBytes: number }
  | { readonly kind: 'drawn'; readonly screen: number; readonly bytes: Uint8Array }
  /** Nothing more is kept of it. */
  | { readonly kind: 'refused'; readonly screen: number; readonly reason: ScreenRefusal };

export type ScreenRefusal = 'too_large' | 'too_slow' | 'failed';
