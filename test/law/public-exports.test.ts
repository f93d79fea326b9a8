import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { isTest } from './project-files.ts';
import { typeScriptSources } from './typescript-source.ts';

const PUBLIC = /^(packages|sdks)\/[^/]+\/src\/|^modules\/[^/]+\/src\/domain\/ports/;
const sources = typeScriptSources().filter(({ path }) => PUBLIC.test(path) && !isTest(path));

function nameOf(statement: ts.Statement): string {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations[0]?.name.getText() ?? '';
  const named = statement as ts.Statement & { name?: ts.Node }; // every other exported declaration has a name
  return named.name?.getText() ?? '';
}

describe('the exports of packages, SDKs and ports', () => {
  it('have a doc comment', () => {
    const silent = sources.flatMap(({ path, syntax }) =>
      syntax.statements
        .filter((statement) => ts.canHaveModifiers(statement) && isExported(statement))
        .filter((statement) => ts.getJSDocCommentsAndTags(statement).length === 0)
        .map((statement) => `${path}: ${nameOf(statement)}`),
    );
    expect(silent).toEqual([]);
  });
});

function isExported(statement: ts.HasModifiers): boolean {
  return ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
}
