import ts from 'typescript';
import { expect, it } from 'vitest';
import { isTest } from './project-files.ts';
import { placeOf, typeScriptSources, type TypeScriptSource } from './typescript-source.ts';

/**
 * A repetition without a limit at the beginning, followed by something else: `\s*,`, `\/+$`. Each character of a long run is
 * tried as the beginning of a match, which takes quadratic time. Anchors and lookbehinds prevent that, as does `trim`.
 */
const LEADING_REPETITION =
  /^(?:\((?:\?:)?)*(?:\\(?:[pP]\{[^}]*\}|[^])|\[(?:\\[^]|[^\]\\])*\]|[^\\[(^$])(?:[*+]|\{\d*,\})\??(?!\)*$)[^]/;

/** The alternatives of a pattern that are not inside of a group. */
function alternativesOf(pattern: string): string[] {
  const alternatives = [''];
  let depth = 0;
  for (const [piece] of pattern.matchAll(/\\[^]|\[(?:\\[^]|[^\]\\])*\]|[^]/g)) {
    if (piece === '(') depth += 1;
    if (piece === ')') depth -= 1;
    if (piece === '|' && depth === 0) alternatives.push('');
    else alternatives.push(`${alternatives.pop() ?? ''}${piece}`);
  }
  return alternatives;
}

function isSlow(literal: string): boolean {
  const end = literal.lastIndexOf('/');
  if (literal.slice(end).includes('y')) return false; // sticky: tried at one place
  return alternativesOf(literal.slice(1, end)).some((each) => LEADING_REPETITION.test(each));
}

function slowPatterns(source: TypeScriptSource): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node) && isSlow(node.text)) found.push(`${placeOf(source, node)}: ${node.text}`);
    ts.forEachChild(node, visit);
  };
  visit(source.syntax);
  return found;
}

it('patterns begin with no repetition that a long run makes slow', () => {
  for (const slow of ['/\\s*,\\s*/', '/([a-z]+)=/g', '/^a|[.]{2,}$/', '/\\p{L}+?x/u'])
    expect(isSlow(slow), slow).toBe(true);
  for (const fine of ['/\\s+/', '/(?<!\\/)\\/+$/', '/^-+|-x/', '/[a-z]+/gy', '/a{1,3}b/', '/(?:[a-z]+)/'])
    expect(isSlow(fine), fine).toBe(false);
  const product = typeScriptSources().filter(
    ({ path }) => !isTest(path) && /^(packages|modules|apps|sdks)\//.test(path),
  );
  expect(product.flatMap(slowPatterns)).toEqual([]);
});
