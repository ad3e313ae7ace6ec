"""The ops: `op_cases` is the op table, `test_ops` what every row of it promises."""
