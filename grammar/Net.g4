// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The syntax of `.net` files, and nothing but syntax: no operation, unit or
// setting is named here. NewlineFilter decides which NL tokens reach the
// parser. Every rule is decided with at most two tokens of look-ahead; the
// tests hold that.

grammar Net;

@lexer::members {
  /// `64 examples/stages` is no rate.
  bool isAtWordEnd() {
    size_t next = _input->LA(1);
    return next > 127 || !(std::isalnum(int(next)) || next == '_');
  }
}

// A file may begin with `net 1`, which tells it from other formats with the
// same suffix.
file      : (NET NUMBER NL)? (item NL)* EOF ;

// What the command line sets: `run.batch=64,128`.
setting   : path '=' expr (',' expr)* NL EOF ;

item      : importDecl
          | blockDecl
          | section
          | stmt
          ;

importDecl: IMPORT (path | STRING) (AS ID)? ;
path      : ID ('.' name)* ;

// The soft keywords: names wherever a `.` precedes or a `=` follows. OVER and AS
// are expressions too, so that a block can hand its own on: `over = over`.
name      : ID | OVER | ON | AS | CARRY | WITHIN | NET | BLOCK | TRAIN
          | DATASET | HARDWARE | INFER
          ;

blockDecl : kind=(BLOCK | NET) ID params ('=' value=expr | statements=body) ;

// Tensors before the `;`, settings after it.
params    : '(' (param (',' param)* ','?)?
            (';' (param (',' param)* ','?)?)? ')' ;
param     : name (':' type=expr)? ('=' fallback=expr)? ;

// What a binding binds, with an optional pattern: `x: [N, T, d]`.
target    : (ID | HARDWARE) (':' pattern=expr)? ;

section   : kind=(DATASET | HARDWARE) ID params? body ;

job       : kind=(TRAIN | INFER) (expr (ON expr)? (AS ID)? | AS ID) body? ;

body      : '{' (stmts+=stmt (sep stmts+=stmt?)*)? '}' ;
sep       : NL | ';' ;

stmt      : RETURN item2 (',' item2)*                    # Return
          | YIELD expr (',' expr)*                       # Yield
          | IF condition=expr then=body (ELSE (otherwise=body | tail=ifTail))? # IfStmt
          | FOR ID (',' ID)* IN expr body                # ForStmt
          | EXPECT expr (WITHIN expr)?                   # Expect
          | REQUIRE expr (',' STRING)?                   # Require
          | SWEEP varied (',' varied)*                   # Sweep
          | job                                          # JobStmt
          | targets+=target (',' targets+=target)* '=' value=expr # Bind
          ;
ifTail    : IF condition=expr then=body
            (ELSE (otherwise=body | tail=ifTail))? ;
each      : ID IN expr ;
varied    : (ID | HARDWARE) IN expr ;
item2     : (left=target '=')? value=expr ;

// One left-recursive rule: a level of nesting costs one frame, a chain of
// operators none. Tightest binding first.
expr      : left=expr '(' written=args ')'               # Call
          | left=expr '[' places=axes? ']'               # Index
          | left=expr '.' name                           # Member
          | <assoc=right> left=expr '^' right=expr       # Pow
          | '-' operand=expr                             # Neg
          | left=expr op=('*' | '/' | '//' | '%' | '@') right=expr # Mul
          | left=expr op=('+' | '-') right=expr          # Add
          | left=expr '..' right=expr                    # Range
          | left=expr op=('==' | '!=' | '<' | '<=' | '>' | '>=' | '~') right=expr # Cmp
          | NOT operand=expr                             # Not
          | left=expr AND right=expr                     # And
          | left=expr OR right=expr                      # Or
          | left=expr '|>' right=expr                    # Pipe
          | IF expr THEN expr ELSE expr                  # Cond
          | REPEAT (ID IN)? expr '{' expr '}'            # Repeat
          | SCAN each (',' each)* OVER name carry? body  # Scan
          | quantity                                     # Lit
          | STRING                                       # Str
          | (TRUE | FALSE)                               # Bool
          | (ID | OVER | AS | REPEAT | SCAN)             # Ref
          | '(' expr ')'                                 # Paren
          | '[' (axis (NL? comp | (',' axis)* ','?))? ']' # List
          | record                                       # Rec
          ;

carry     : CARRY ID '=' expr (',' ID '=' expr)* ;
args      : (arg (',' arg)* ','?)? (';' arg (',' arg)* ','?)? ;
arg       : (label=name '=')? value=expr ;
comp      : FOR ID (',' ID)* IN expr (NL? IF expr)? ;
axes      : axis (',' axis)* ','? ;
axis      : '...' | (label=name '=')? value=expr ;
record    : '{' (field ((',' | NL) field)* ','?)? '}' ;
field     : name '=' expr ;

// A unit stands on its number's line, since the NL between two names is kept.
quantity  : NUMBER ID? | RATE | DEVTIME ;

IMPORT    : 'import' ;
BLOCK     : 'block' ;
NET       : 'net' ;
DATASET   : 'dataset' ;
HARDWARE  : 'hardware' ;
TRAIN     : 'train' ;
INFER     : 'infer' ;
RETURN    : 'return' ;
YIELD     : 'yield' ;
EXPECT    : 'expect' ;
REQUIRE   : 'require' ;
SWEEP     : 'sweep' ;
IF        : 'if' ;
THEN      : 'then' ;
ELSE      : 'else' ;
FOR       : 'for' ;
IN        : 'in' ;
REPEAT    : 'repeat' ;
SCAN      : 'scan' ;
OVER      : 'over' ;
CARRY     : 'carry' ;
ON        : 'on' ;
AS        : 'as' ;
WITHIN    : 'within' ;
AND       : 'and' ;
OR        : 'or' ;
NOT       : 'not' ;
TRUE      : 'true' ;
FALSE     : 'false' ;

LPAREN    : '(' ;
RPAREN    : ')' ;
LBRACKET  : '[' ;
RBRACKET  : ']' ;
LBRACE    : '{' ;
RBRACE    : '}' ;
COMMA     : ',' ;
SEMI      : ';' ;
COLON     : ':' ;
ASSIGN    : '=' ;
PIPE      : '|>' ;
DOT       : '.' ;
RANGE     : '..' ;
ELLIPSIS  : '...' ;
PLUS      : '+' ;
MINUS     : '-' ;
STAR      : '*' ;
SLASH     : '/' ;
FLOORDIV  : '//' ;
PERCENT   : '%' ;
MATMUL    : '@' ;
CARET     : '^' ;
EQ        : '==' ;
NE        : '!=' ;
LT        : '<' ;
LE        : '<=' ;
GT        : '>' ;
GE        : '>=' ;
ABOUT     : '~' ;

// A rate or device-time is one token with its number, so that `H/s` and
// `x-days` stay expressions.
NUMBER    : NUM ;
RATE      : NUM [ \t]* RUNIT {isAtWordEnd()}? ;
DEVTIME   : NUM [ \t]* ((WORD '-')+ | RUNIT '-')
            ('second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year')
            's'? {isAtWordEnd()}? ;
fragment RUNIT
          : ( [kMGTPEZY]? ('FLOP' | 'OP' | 'bit')
            | ([kMGTP] | [KMGTP] 'i') 'B'
            | 'steps' | 'tokens' | 'examples' | 'samples' | 'sequences'
            | 'images'
            ) '/s' ;
fragment WORD   : [A-Za-z] [A-Za-z0-9_]* ;
fragment NUM    : (DIGITS ('.' DIGITS)? | '.' DIGITS) ([eE] [+-]? DIGITS)?
                  (SUFFIX | '%')? ;
fragment DIGITS : [0-9] ('_'? [0-9])* ;
fragment SUFFIX : [KMGT] 'i' | [kMGBT] ;

STRING    : '"' (~["\\\r\n] | '\\' [nt"\\])* '"' ;
ID        : [A-Za-z_] [A-Za-z0-9_]* '\''? ;
NL        : [\r\n]+ ;
COMMENT   : '#' ~[\r\n]* -> channel(HIDDEN) ;
WS        : [ \t]+ -> skip ;

// Whatever else there is becomes an error token, so that the lexer never fails.
// A string that is not closed, or has an unknown escape, is one of them; were
// its quote alone one, a line of `\"` would be read once for each quote.
BADSTRING : '"' (~["\\\r\n] | '\\' ~[\r\n])* '"'? ;
BAD       : . ;
