-- Records a promotion that is about to be written to the file.
INSERT INTO promotion (
    fragment, statements, night, score, boost, components, recalls, text, path, start_line, end_line, state,
    replaces, basis
)
VALUES (
    :fragment, :statements, :night, :score, :boost, :components, :recalls, :text, :path, :start_line, :end_line, :state,
    :replaces, :basis
)
