import type { Attributes } from './terminal-internals.ts';

/** Cells with equal keys look the same. */
export function styleKey(style: Attributes): string {
  return `${style.fg}:${style.bg}:${style.hasExtendedAttrs() ? style.extended.ext : 0}`;
}

/** The SGR sequence (ECMA-48, 8.3.117) that sets these attributes from any state. */
export function selectGraphics(style: Attributes): string {
  const codes: (number | string)[] = [0];
  if (style.isBold()) codes.push(1);
  if (style.isDim()) codes.push(2);
  if (style.isItalic()) codes.push(3);
  // A saved cursor keeps the underline, but not its style.
  const underline = style.isUnderline() ? Math.max(1, style.getUnderlineStyle()) : 0;
  if (underline > 0) codes.push(underline === 1 ? 4 : `4:${underline}`);
  if (style.isBlink()) codes.push(5);
  if (style.isInverse()) codes.push(7);
  if (style.isInvisible()) codes.push(8);
  if (style.isStrikethrough()) codes.push(9);
  if (style.isOverline()) codes.push(53);
  codes.push(...color(style.isFgRGB(), style.isFgPalette(), style.getFgColor(), 30));
  codes.push(...color(style.isBgRGB(), style.isBgPalette(), style.getBgColor(), 40));
  if (underline > 0 && style.hasExtendedAttrs() && underlineHasOwnColor(style)) {
    codes.push(...color(style.isUnderlineColorRGB(), style.isUnderlineColorPalette(), style.getUnderlineColor(), 50));
  }
  return `\u001b[${codes.join(';')}m`;
}

function underlineHasOwnColor(style: Attributes): boolean {
  return style.getUnderlineColor() !== style.getFgColor();
}

function color(isRgb: boolean, isPalette: boolean, value: number, base: 30 | 40 | 50): (number | string)[] {
  if (isRgb) return [base + 8, 2, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff];
  if (!isPalette) return [];
  if (base === 50 || value >= 16) return [base + 8, 5, value];
  return [value < 8 ? base + value : base + 52 + value];
}
