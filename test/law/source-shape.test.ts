import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { isTest, projectFiles, readProjectFile } from './project-files.ts';
import { placeOf, typeScriptSources, type TypeScriptSource } from './typescript-source.ts';

const MAX_FILE_LINES = 400;
/** Excludes nested functions: a factory that returns an object of methods is as long as its methods. */
const MAX_FUNCTION_LINES = 60;
const MAX_FACTORY_LINES = 110;
const REFUSED_NAMES = /(^|[/-])(utils?|helpers?|common|managers?)(\.[a-z]+)*$/;
/** Names that once stood for `handle`, `apply`, `notify`, `release`, `retry`, labels and pools. */
const REFUSED_WORDS =
  'heeds?|obeys?|tells?|giveBack|giveUp|letGo|lookTwice|leaveWord|starve|asking|circumstances|besides?|eachOf|warmShelf|whoSigned|nobody|somebody|whoever';
/** Matches whole words at the start of a name: `heedHello`, `Heed`, `BESIDES`, not `teller`. */
const REFUSED_DECLARATIONS = new RegExp(
  `^#?(?:${REFUSED_WORDS}|${REFUSED_WORDS.replaceAll(/(?<=^|\\|)[a-z]/g, (letter) => letter.toUpperCase())}|${REFUSED_WORDS.toUpperCase()})(?=$|[A-Z0-9_])`,
);
const GO_DECLARATION =
  /^func (?:\([^)]*\) )?(\w+)|^(?:type|var|const) (\w+)|^\t(\w+)(?:, \w+)* :?=(?!=)|^\t(\w+) +func\(/gm;
/** Files where an app reads its environment; everything else takes arguments. */
const READS_ENVIRONMENT = /^apps\/[a-z]+\/src\/(main|config|configuration)(\/|\.ts$|-)/;
/** A program's entry runs when loaded, by design. */
const ENTRY = /(^|\/)(main|[a-z-]+-(worker|main))\.tsx?$|\.config\.ts$|^[a-z]+\/[a-z-]+\/scripts\//;
const MUTABLE_COLLECTIONS: ReadonlySet<string> = new Set(['Map', 'Set', 'WeakMap', 'WeakSet', 'Array']);

const sources = typeScriptSources();
const product = sources.filter(
  (source) => !isTest(source.path) && /^(packages|modules|apps|sdks|migrations)\//.test(source.path),
);

describe('source files', () => {
  it(`have at most ${MAX_FILE_LINES} lines`, () => {
    const files = projectFiles().filter((path) => /\.(tsx?|go|sh|css)$/.test(path) && !path.includes('/generated/'));
    const lengths = files.map((path) => ({ path, lines: readProjectFile(path).trimEnd().split('\n').length }));
    expect(lengths.filter((each) => each.lines > MAX_FILE_LINES)).toEqual([]);
  });

  // A migration is one list of tables; splitting it would only obscure that.
  it(`have no function above ${MAX_FUNCTION_LINES} lines`, () => {
    expect(product.filter((source) => !source.path.startsWith('migrations/')).flatMap(longFunctions)).toEqual([]);
  });

  it('have kebab-case names that match their content', () => {
    const own = sources.filter((source) => !source.path.endsWith('.tsx')).map((source) => source.path);
    expect(own.filter((path) => !/^[a-z0-9]+([.-][a-z0-9]+)*$/.test(path.split('/').at(-1) ?? ''))).toEqual([]);
    expect(
      sources.map((source) => source.path).filter((path) => REFUSED_NAMES.test(path.replace(/\.tsx?$/, ''))),
    ).toEqual([]);
  });

  it('declare no name that replaces a standard term', () => {
    const declared = product.flatMap(({ path, syntax }) =>
      declaredNames(syntax)
        .filter((name) => REFUSED_DECLARATIONS.test(name))
        .map((name) => `${path}: ${name}`),
    );
    expect([
      ...declared,
      ...projectFiles()
        .filter((path) => path.endsWith('.go'))
        .flatMap(refusedInGo),
    ]).toEqual([]);
    expect(product.map(({ path }) => path).filter((path) => /-words\.tsx?$/.test(path))).toEqual([]);
  });

  it('call what turns a record into a response body toXView', () => {
    const named = product
      .filter(({ path }) => /^(modules|apps\/platform)\//.test(path))
      .flatMap(({ path, syntax }) => functionNames(syntax).map((name) => ({ path, name })));
    const others = named.filter(({ name }) => /^view[A-Z]|View$/.test(name) && !/^to([A-Z]\w*)?View$/.test(name));
    expect(others).toEqual([]);
  });

  it('read the environment only where an app is configured', () => {
    const readers = product.filter((source) => !READS_ENVIRONMENT.test(source.path)).flatMap(environmentReads);
    expect(readers).toEqual([]);
  });

  it('keep no mutable module state and do no work when loaded', () => {
    expect(product.filter((source) => !ENTRY.test(source.path)).flatMap(worksAtImport)).toEqual([]);
  });

  it('repeat work in a BackgroundLoop, never in an interval of their own', () => {
    const inBrowser = /^apps\/console\//;
    const repeating = product.filter(({ path, text }) => !inBrowser.test(path) && /\bsetInterval\(/.test(text));
    expect(repeating.map(({ path }) => path)).toEqual([]);
  });

  it('contain no note of unfinished work', () => {
    // Written in halves, so that this file does not match itself.
    const words = new RegExp(
      `\\b(${[
        ['TO', 'DO'],
        ['FIX', 'ME'],
        ['X', 'XX'],
        ['HA', 'CK'],
      ]
        .map((halves) => halves.join(''))
        .join('|')})\\b`,
    );
    const code = projectFiles().filter((path) => /\.(tsx?|go|sh|css|html|ya?ml)$/.test(path));
    expect(code.filter((path) => words.test(readProjectFile(path)))).toEqual([]);
  });

  it('focus and skip no test', () => {
    const silent = /\b(it|test|describe)(\.(each|concurrent|sequential)(\([^)]*\))?)?\.(only|skip|todo)\(/;
    expect(sources.filter((source) => silent.test(source.text)).map((source) => source.path)).toEqual([]);
  });
});

function refusedInGo(path: string): string[] {
  const names = [...readProjectFile(path).matchAll(GO_DECLARATION)].flatMap((match) => match.slice(1));
  return names
    .filter((name) => name !== undefined && REFUSED_DECLARATIONS.test(name))
    .map((name) => `${path}: ${name}`);
}

function longFunctions(source: TypeScriptSource): string[] {
  const found: string[] = [];
  const lineOf = (position: number): number => source.syntax.getLineAndCharacterOfPosition(position).line;
  const linesOf = (node: ts.Node): number => lineOf(node.getEnd()) - lineOf(node.getStart(source.syntax)) + 1;
  const linesInside = (node: ts.Node): number => {
    let lines = 0;
    ts.forEachChild(node, (child) => {
      lines += ts.isFunctionLike(child) ? Math.max(0, linesOf(child) - 1) : linesInside(child);
    });
    return lines;
  };
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) {
      const lines = linesOf(node);
      const own = lines - linesInside(node);
      if (own > MAX_FUNCTION_LINES || lines > MAX_FACTORY_LINES)
        found.push(`${placeOf(source, node)} has ${lines} lines`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source.syntax);
  return found;
}

function environmentReads(source: TypeScriptSource): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) && node.getText(source.syntax) === 'process.env')
      found.push(placeOf(source, node));
    ts.forEachChild(node, visit);
  };
  visit(source.syntax);
  return found;
}

function worksAtImport(source: TypeScriptSource): string[] {
  return source.syntax.statements.flatMap((statement) => {
    if (ts.isExpressionStatement(statement)) return [`${placeOf(source, statement)} does work when it is loaded`];
    if (!ts.isVariableStatement(statement)) return [];
    if ((statement.declarationList.flags & ts.NodeFlags.Const) === 0)
      return [`${placeOf(source, statement)} can be assigned`];
    return statement.declarationList.declarations
      .filter((declaration) => declaration.type === undefined && isMutableCollection(declaration.initializer))
      .map((declaration) => `${placeOf(source, declaration)} can be changed: say ReadonlyMap or ReadonlySet`);
  });
}

function isMutableCollection(initializer: ts.Expression | undefined): boolean {
  if (initializer === undefined || !ts.isNewExpression(initializer)) return false;
  return ts.isIdentifier(initializer.expression) && MUTABLE_COLLECTIONS.has(initializer.expression.text);
}

function declaredNames(syntax: ts.SourceFile): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    const isDeclaration =
      ts.isFunctionDeclaration(node) ||
      ts.isVariableDeclaration(node) ||
      ts.isParameter(node) ||
      ts.isClassDeclaration(node) ||
      ts.isInterfaceDeclaration(node) ||
      ts.isTypeAliasDeclaration(node) ||
      ts.isMethodDeclaration(node) ||
      ts.isMethodSignature(node) ||
      ts.isPropertyDeclaration(node) ||
      ts.isPropertySignature(node);
    if (isDeclaration && node.name !== undefined) names.push(node.name.getText(syntax));
    ts.forEachChild(node, visit);
  };
  visit(syntax);
  return names;
}

function functionNames(syntax: ts.SourceFile): string[] {
  return syntax.statements.flatMap((statement) => {
    if (ts.isFunctionDeclaration(statement)) return statement.name === undefined ? [] : [statement.name.text];
    if (!ts.isVariableStatement(statement)) return [];
    return statement.declarationList.declarations
      .filter(({ initializer }) => initializer !== undefined && ts.isArrowFunction(initializer))
      .map(({ name }) => name.getText(syntax));
  });
}
